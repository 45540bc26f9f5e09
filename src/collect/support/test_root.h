// For tests: the /proc and /sys trees of fixture machines, and one source opened on such a tree.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "collect/collect.h"

namespace trainscope {

// test/data/roots/<machine>.tar, as the build unpacks it.
inline std::string machine_root(const std::string& machine) {
  return std::string(TRAINSCOPE_TEST_MACHINES) + "/" + machine;
}

// A tree in a temporary folder that goes when this does.
class TestRoot {
 public:
  TestRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "trainscope-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  // A copy of such a machine, to change.
  explicit TestRoot(const std::string& machine) : TestRoot() {
    std::filesystem::copy(
        machine_root(machine), path_,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  }
  TestRoot(const TestRoot&) = delete;
  TestRoot& operator=(const TestRoot&) = delete;
  ~TestRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string at(const std::string& file) const { return path_ + file; }
  // Into the same inode, so that a source that has it open sees the new text.
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(at(file)).parent_path());
    std::ofstream(at(file), std::ios::binary | std::ios::trunc) << text;
  }
  std::string text(const std::string& file) const { return *read_file(at(file)); }
  void remove(const std::string& file) const { std::filesystem::remove_all(at(file)); }

 private:
  std::string path_;
};

class OpenedSource {
 public:
  OpenedSource(const Collector& collector, const std::string& root, SourceContext context = {})
      : context_(std::move(context)), source_(collector.make()) {
    context_.root = root;
    open();
  }
  void open() {
    opened_ = source_->open(context_);
    values_.assign(opened_.columns.size(), kAbsent);
  }
  Sampled sample() { return source_->sample(values_); }
  Sampled sample(int times) {
    for (int i = 1; i < times; ++i) {
      if (sample() != Sampled::ok) return Sampled::layout_changed;
    }
    return sample();
  }

  const Opened& opened() const { return opened_; }
  const std::vector<int64_t>& values() const { return values_; }
  // The scaled value of a series, by "metric{k=v;k=v}"; nothing when it is absent or not there.
  std::optional<double> value(const std::string& series) const {
    for (size_t i = 0; i < opened_.columns.size(); ++i) {
      if (name(i) != series || values_[i] == kAbsent) continue;
      return opened_.columns[i].scale.apply(values_[i]);
    }
    return std::nullopt;
  }
  bool has(const std::string& series) const {
    for (size_t i = 0; i < opened_.columns.size(); ++i) {
      if (name(i) == series) return true;
    }
    return false;
  }
  // "reason" or "reason | remedy"; empty when the metric is not missing.
  std::string missing(const std::string& metric) const {
    for (const Missing& missing : opened_.missing) {
      if (missing.metric != metric) continue;
      return missing.reason + (missing.remedy.empty() ? "" : " | " + missing.remedy);
    }
    return "";
  }

  std::string name(size_t column) const {
    const Column& it = opened_.columns[column];
    Series series;
    series.metric = it.metric;
    series.labels = it.labels;
    return series_text(series);
  }

 private:
  SourceContext context_;
  std::unique_ptr<Source> source_;
  Opened opened_;
  std::vector<int64_t> values_;
};

}  // namespace trainscope
