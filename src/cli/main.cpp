#include "cli/cli.h"

int main(int argc, char** argv) { return trainscope::run_command_line(argc, argv); }
