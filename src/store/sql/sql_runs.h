// The runs that a query reads: one, or those of a group.
//
// Guarantees: of a group only a few runs are open at a time, however many it has; each is opened
// when a row of it is needed.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "store/store.h"

namespace trainscope {

// In the tables of a group the rows of all runs follow each other, and begin with these columns.
inline constexpr std::string_view kGroupColumns = "run TEXT, rank INTEGER, ";
inline constexpr int kGroupColumnCount = 2;

class QueriedRuns {
 public:
  virtual ~QueriedRuns() = default;
  virtual bool is_group() const = 0;
  virtual size_t size() const = 0;
  virtual const Manifest& manifest(size_t at) const = 0;
  virtual Result<std::shared_ptr<const RunView>> open(size_t at) const = 0;

  std::string_view first_columns() const { return is_group() ? kGroupColumns : ""; }
};

// A run that is open already and outlives the query.
class OneQueriedRun : public QueriedRuns {
 public:
  explicit OneQueriedRun(const RunView& run) : run_(run) {}
  bool is_group() const override { return false; }
  size_t size() const override { return 1; }
  const Manifest& manifest(size_t /*at*/) const override { return run_.manifest(); }
  Result<std::shared_ptr<const RunView>> open(size_t /*at*/) const override {
    return std::shared_ptr<const RunView>(std::shared_ptr<const RunView>(), &run_);
  }

 private:
  const RunView& run_;
};

class QueriedGroup : public QueriedRuns {
 public:
  explicit QueriedGroup(const std::vector<std::string>& paths);
  bool is_group() const override { return true; }
  size_t size() const override { return runs_.size(); }
  const Manifest& manifest(size_t at) const override { return runs_[at].manifest; }
  Result<std::shared_ptr<const RunView>> open(size_t at) const override;

 private:
  struct OpenRun {
    size_t at = 0;
    std::shared_ptr<const RunView> run;
  };
  std::vector<RunListing> runs_;
  mutable std::vector<OpenRun> open_;  // the last ones, the newest at the end
};

}  // namespace trainscope
