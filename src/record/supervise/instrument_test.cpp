#include "record/supervise/instrument.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainscope {
namespace instrument_test {

TEST(Instrument, the_program_carries_the_stub_and_the_sender) {
  const auto text_of = [](std::string_view path) {
    for (const InstrumentFile& file : instrument_files()) {
      if (file.path == path) return file.text;
    }
    return std::string_view();
  };
  EXPECT_NE(text_of("startup/sitecustomize.py").find("meta_path"), std::string_view::npos);
  EXPECT_NE(text_of("modules/_pipe.py").find("class Sender"), std::string_view::npos);
  EXPECT_NE(text_of("modules/__init__.py").find("def attach"), std::string_view::npos);
}

TEST(Instrument, nothing_but_the_stub_is_in_the_folder_of_the_path) {
  const auto files = instrument_files();
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const auto& file) { return file.path.starts_with("startup/"); }),
            1);
}

TEST(Instrument, an_empty_path_adds_no_entry) {
  EXPECT_EQ(instrument_environment("/runs/a", "")["PYTHONPATH"], "/runs/a/instrument/startup");
  EXPECT_EQ(instrument_environment("/runs/a", "/lib:/more")["PYTHONPATH"],
            "/runs/a/instrument/startup:/lib:/more");
}

TEST(Instrument, the_setting_of_the_caller_is_not_that_of_a_run_inside_of_the_job) {
  EXPECT_FALSE(instrument_environment("/runs/a", "").contains(kInstrumentVariable));
  EXPECT_FALSE(instrument_environment("/runs/a", "", "1").contains(kInstrumentVariable));
  EXPECT_EQ(instrument_environment("/runs/a", "", "0").at(kInstrumentVariable), "");
}

TEST(Instrument, the_lease_of_a_probe_names_the_supervisor_and_what_all_ranks_share) {
  Manifest manifest;
  manifest.id = "01run";
  manifest.supervisor_pid = 12;
  manifest.supervisor_start_ticks = 34;
  EXPECT_EQ(probe_lease(manifest, 0),
            "key 01run\nranks 1\npid 12\nstart_ticks 34\nuntil_ns 9223372036854775807\n"
            "for_ns 0\n");
  manifest.job = "slurm-4711.0";
  manifest.world_size = 8;
  EXPECT_TRUE(probe_lease(manifest, 1).starts_with("key slurm-4711.0\nranks 8\n"));
}

TEST(Instrument, a_colon_in_the_path_is_an_error) {
  EXPECT_FALSE(write_instrument_files("/tmp/a:b"));
}

}  // namespace instrument_test
}  // namespace trainscope
