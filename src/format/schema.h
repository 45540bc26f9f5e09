// What the columns of a source's blocks are: the schema frame, written, or parsed and checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "format/codec.h"
#include "model/metric.h"

namespace trainscope {

struct StoredColumn {
  std::string metric;
  Labels labels;
  std::string unit;
  Kind kind = Kind::gauge;
  Scale scale;
  bool is_double = false;  // the raw 64 bits are an IEEE double

  // Nothing for kAbsent and for doubles that are no number.
  std::optional<double> value(int64_t raw) const;
};

struct StoredMissing {
  std::string metric, unit, reason, remedy;
  Kind kind = Kind::gauge;
};

struct StoredSchema {
  uint64_t number = 0, stream = 0;
  int64_t period_ns = 0;
  std::string source;
  std::vector<StoredColumn> columns;
  std::vector<Totals> totals;  // one per column: what its statistics add up
  std::vector<StoredMissing> missing;

  void add(StoredColumn column);
};

// The payload of a schema frame, and back.
std::string schema_json(const StoredSchema& schema);
Result<StoredSchema> parse_schema(std::string_view payload);

// An object, or the text of labels_text; sorted by name.
Labels labels_from_json(const Json& json);

}  // namespace trainscope
