// trainscope-workload(1), written from the tables of its options.
#pragma once

#include <string>

#include "base/man_page.h"
#include "commands/help.h"

namespace trainscope::workload {

class Manual {
 public:
  Manual();
  void add(const CommandText& command, const CLI::App& app);
  // Once, after all commands.
  std::string text();

 private:
  ManPage page_;
};

}  // namespace trainscope::workload
