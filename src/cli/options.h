// What a subcommand takes, as a table of rows: help, completion, the reference pages and the parser
// are made from it.
//
// Guarantees: nothing is set before all arguments are known to be valid. Limits: only
// cli/parse_arguments.cpp sees the parser's library.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainscope {

struct Command;
class Settings;

struct Option {
  std::string name;   // "--every", "-o,--output"; an argument has no dashes: "RUN"
  std::string value;  // its placeholder in help: DURATION, RUN, FILE, DIR …; "" for a flag
  std::string help;
  std::vector<std::string> choices = {};  // empty: anything
  bool is_required = false;
  bool repeats = false;
  // Called with each value that was given, in order; for a flag with "".
  std::function<void(const std::string&)> set;

  bool is_argument() const { return !name.starts_with('-'); }
  bool is_flag() const { return value.empty(); }
  // "--output", "-o"
  std::vector<std::string> names() const;
  // How help writes its value: "DURATION", "csv|jsonl", "" for a flag.
  std::string value_text() const;
  // Its name and value: "--to csv|jsonl"; an argument named like its value appears once.
  std::string label() const;
};

// Where a value goes: the last one given, all of them, or that the flag was there.
std::function<void(const std::string&)> store_in(std::string& target);
std::function<void(const std::string&)> store_in(std::vector<std::string>& target);
std::function<void(const std::string&)> store_in(bool& target);

// The rows of one subcommand, and the job's command line where it takes one.
class Options {
 public:
  Option& add(Option option);
  // A job follows after `--`, or begins with the first argument that is not an option. `usage` is
  // how help writes it.
  void take_job(std::string usage = "-- COMMAND…") { job_usage_ = std::move(usage); }

  std::span<const Option> all() const { return all_; }
  // By one of its names; nullptr when there is none.
  const Option* find(std::string_view name) const;
  bool takes_job() const { return !job_usage_.empty(); }
  const std::string& job_usage() const { return job_usage_; }
  // Set by the parser: the job's arguments, exactly as given.
  std::vector<std::string> job;

 private:
  std::vector<Option> all_;
  std::string job_usage_;
};

// A subcommand with its rows.
struct CommandOptions {
  const Command* command = nullptr;
  std::shared_ptr<Options> options;
};

// Every subcommand that is not hidden, for help, completion and reference.
std::vector<CommandOptions> describe_commands(const Settings& settings);

enum class Parsed { ready, help_wanted };

// Sets what `arguments` give.
Result<Parsed> parse_arguments(const Command& command, Options& options,
                               std::vector<std::string> arguments);

}  // namespace trainscope
