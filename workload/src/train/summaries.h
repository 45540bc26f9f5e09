// Numbers for TensorBoard: an event file for each set, in a folder that --logdir can show.
//
// Guarantees: FOLDER/train, FOLDER/validation and FOLDER/test, by the name that the recorder gets
// for the same set, are written as TensorFlow's own writers do, each number at once, so that
// TensorBoard can follow. What cannot be written does not stop the training: the first fault is
// kept. Limits: scalars only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace trainscope::workload {

class Summaries {
 public:
  // An empty folder: nothing is written.
  explicit Summaries(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void scalar(const std::string& set, const std::string& tag, std::uint64_t step, double value);
  // The first fault, if there was one.
  Status state() const { return state_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  std::FILE* file_of(const std::string& set);
  void write(std::FILE* file, const std::string& event);
  void note(const std::string& what);

  std::filesystem::path folder_;
  std::map<std::string, File> files_;
  Status state_;
};

}  // namespace trainscope::workload
