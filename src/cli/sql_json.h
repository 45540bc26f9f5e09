// The JSON document of `sql --json`, written row by row.
//
// Guarantees: the same bytes as json_text of the whole document; memory is that of a row.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace trainscope {

class SqlDocument {
 public:
  using Write = std::function<Status(std::string_view)>;
  explicit SqlDocument(Write write) : write_(std::move(write)) {}

  // For the query. The document ends with finish(), which an Error of the query leaves out.
  SqlOutput output();
  Status finish();

 private:
  Status begin(const std::vector<std::string>& names);
  Status add_row(const std::vector<SqlValue>& values);
  Status pass_on();

  Write write_;
  std::string text_;  // that was not written yet
  bool has_rows_ = false;
};

}  // namespace trainscope
