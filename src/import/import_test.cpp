// Small recordings, imported and read back through the store.
#include "import/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "model/model.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {

namespace collect_logs_importer {
extern const Importer entry;
}
namespace tegrastats_importer {
extern const Importer entry;
}

namespace import_test {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string test_data(const std::string& name) {
  return std::string(TRAINSCOPE_TEST_DATA) + "/" + name;
}

// A separate home and a folder for recordings, removed at the end.
class Import : public testing::Test {
 protected:
  std::string home() const { return folder_ + "/home"; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::unique_ptr<RunView> imported(const Importer& importer, const ImportOptions& options) const {
    auto read = importer.read(options);
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    if (!read) return nullptr;
    auto made = write_run(home(), *read);
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    if (!made) return nullptr;
    auto run = open_run(made->path);
    EXPECT_TRUE(run) << (run ? "" : run.error().message());
    return run ? std::move(*run) : nullptr;
  }
  static std::string problem(const Importer& importer, const std::string& path) {
    const auto read = importer.read({path, std::nullopt});
    return read ? "" : read.error().message();
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

Summary summary_of(const RunView& run, const std::string& series) {
  for (size_t i = 0; i < run.series().size(); ++i) {
    if (series_text(run.series()[i]) != series) continue;
    const auto summary = run.summary(i);
    return summary ? *summary : Summary();
  }
  ADD_FAILURE() << "no series " << series;
  return {};
}

const Series* find(const RunView& run, const std::string& metric) {
  for (const Series& series : run.series()) {
    if (series.metric == metric) return &series;
  }
  return nullptr;
}

TEST_F(Import, collect_logs_become_a_run) {
  const auto run =
      imported(collect_logs_importer::entry, {test_data("collect-logs"), std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->status(), RunStatus::ended);
  EXPECT_EQ(run->manifest().imported_format, "collect-logs");
  EXPECT_EQ(run->manifest().ended_by, EndedBy::unknown);
  EXPECT_EQ(run->duration_s(), 3);
  EXPECT_EQ(run->sampling().samples, 4);
  EXPECT_EQ(run->sampling().missed, 0);
  EXPECT_FALSE(run->sampling().jitter_p50_s);
  EXPECT_NEAR(*summary_of(*run, "system.cpu.utilization{cpu=all}").mean, 0.325, 1e-9);
  EXPECT_NEAR(*summary_of(*run, "system.cpu.state.utilization{cpu=all;state=iowait}").max, 0.1,
              1e-9);
  EXPECT_EQ(summary_of(*run, "hw.temperature{sensor=cpu_package}").max, 96);
  EXPECT_EQ(summary_of(*run, "system.memory.usage{state=used}").min, 200.0 * 1048576);
  EXPECT_NEAR(*summary_of(*run, "system.memory.utilization").max, 0.4, 1e-9);
  EXPECT_THAT(run->host_json(), HasSubstr("1048576000"));
}

TEST_F(Import, collect_logs_derived_metrics_are_not_there_twice) {
  const auto run =
      imported(collect_logs_importer::entry, {test_data("collect-logs"), std::nullopt});
  ASSERT_NE(run, nullptr);
  for (const char* metric : {"system.cpu.utilization", "system.disk.utilization"}) {
    EXPECT_EQ(std::count_if(run->series().begin(), run->series().end(),
                            [&](const Series& series) { return series.metric == metric; }),
              1);
    EXPECT_FALSE(find(*run, metric)->derived);
  }
  EXPECT_EQ(find(*run, "recorder.lateness")->status, SeriesStatus::absent);
  EXPECT_EQ(find(*run, "hw.gpu.utilization")->reason, "the collect script did not record it");
}

TEST_F(Import, collect_logs_suffixes_are_understood) {
  const auto run =
      imported(collect_logs_importer::entry, {test_data("collect-logs"), std::nullopt});
  ASSERT_NE(run, nullptr);
  const std::string read = "{device=unknown;direction=read}";
  const std::string write = "{device=unknown;direction=write}";
  EXPECT_EQ(summary_of(*run, "system.disk.io.rate" + read).max, 296.0 * 1024);
  EXPECT_EQ(summary_of(*run, "system.disk.io.rate" + write).max, 2048.0 * 1048576);
  EXPECT_EQ(summary_of(*run, "system.disk.operation.rate" + write).max, 1200);
  EXPECT_NEAR(*summary_of(*run, "system.disk.operation.wait" + write).max, 0.01, 1e-9);
  EXPECT_EQ(summary_of(*run, "system.disk.utilization{device=unknown}").max, 1);
  EXPECT_EQ(summary_of(*run, "system.disk.utilization{device=unknown}").samples, 3);
}

TEST_F(Import, collect_logs_tell_what_is_not_known) {
  const auto run =
      imported(collect_logs_importer::entry, {test_data("collect-logs"), std::nullopt});
  ASSERT_NE(run, nullptr);
  const auto& notes = run->manifest().notes;
  EXPECT_THAT(notes, Contains(HasSubstr("disk.out has 3 rows, the longest log 4")));
  EXPECT_THAT(notes, Contains(HasSubstr("rows are shown 1 s apart")));
  // 95, 97, "10", 96: the third was 100 or more.
  EXPECT_THAT(notes, Contains(HasSubstr("1 GPU temperatures were 100 °C or more")));
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=0}").samples, 3);
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=0}").min, 95);
}

TEST_F(Import, collect_logs_of_two_gpus_and_packages) {
  write("two/cpu.out", "1 0 0 0 0 0 0 0 0 99\n2 0 0 0 0 0 0 0 0 98\n");
  write("two/gputemp.out", "40\n60\n41\n61\n");
  write("two/cputemp.out", "50.0\n70.0\n51.0\n71.0\n");
  const auto run = imported(collect_logs_importer::entry, {folder_ + "/two", std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().samples, 2);
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=0}").max, 41);
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=1}").max, 61);
  EXPECT_EQ(summary_of(*run, "hw.temperature{sensor=cpu_package_1}").min, 70);
  EXPECT_THAT(find(*run, "system.memory.usage")->reason, HasSubstr("memory.out does not exist"));
}

TEST_F(Import, collect_logs_name_the_bad_line) {
  const std::string good = "1 0 0 0 0 0 0 0 0 99\n";
  EXPECT_EQ(problem(collect_logs_importer::entry, folder_ + "/none"),
            folder_ +
                "/none: none of cpu.out, cputemp.out, disk.out, gputemp.out, memory.out "
                "exists");
  const std::string path = write("bad/cpu.out", good + "\n1 0 0 x 0 0 0 0 0 99\n" + good);
  EXPECT_EQ(problem(collect_logs_importer::entry, folder_ + "/bad"),
            path + ":3: 'x' is not a number");
  write("bad/cpu.out", good + "1 2 3\n");
  EXPECT_EQ(problem(collect_logs_importer::entry, folder_ + "/bad"),
            path + ":2: 3 columns, expected 10");
  write("bad/cpu.out", "\n\n");
  EXPECT_EQ(problem(collect_logs_importer::entry, folder_ + "/bad"), path + ": no rows");
  write("bad/cpu.out", "1e300 0 0 0 0 0 0 0 0 99\n");
  EXPECT_EQ(problem(collect_logs_importer::entry, folder_ + "/bad"),
            path + ":1: '1e300' is too large");
  const std::string memory = write("bad/memory.out", "Swap: 1 2 3 4 5 6 7\n");
  write("bad/cpu.out", good);
  EXPECT_EQ(problem(collect_logs_importer::entry, folder_ + "/bad"),
            memory + ":1: the line does not begin with Mem:");
}

TEST_F(Import, collect_logs_stand_a_line_that_was_being_written) {
  write("torn/cpu.out", "1 0 0 0 0 0 0 0 0 99\n2 0 0 0");
  const auto run = imported(collect_logs_importer::entry, {folder_ + "/torn", std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().samples, 1);
  EXPECT_THAT(run->manifest().notes,
              Contains("the last line of cpu.out is incomplete and left out"));
}

TEST_F(Import, tegrastats_without_a_clock) {
  const auto run =
      imported(tegrastats_importer::entry, {test_data("tegrastats/tx2.log"), std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().samples, 3);
  EXPECT_EQ(run->sampling().period_s, 1);
  EXPECT_EQ(summary_of(*run, "hw.gpu.utilization{gpu=0}").max, 0.99);
  EXPECT_EQ(summary_of(*run, "hw.gpu.clock{clock=sm;gpu=0}").samples, 2);
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=0}").samples, 2);
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=0}").max, 48.5);
  EXPECT_EQ(summary_of(*run, "hw.power{sensor=VDD_IN}").mean, 5);
  EXPECT_NEAR(*summary_of(*run, "system.memory.utilization").max, 2460.0 / 7858, 1e-4);
  EXPECT_NEAR(*summary_of(*run, "system.cpu.utilization{cpu=all}").mean, 0.1, 1e-9);
  const auto& notes = run->manifest().notes;
  EXPECT_THAT(notes, Contains(HasSubstr("rows are shown 1 s apart")));
  EXPECT_THAT(notes, Contains(HasSubstr("PMIC reports 100 °C")));
}

TEST_F(Import, tegrastats_takes_the_given_period) {
  const auto run =
      imported(tegrastats_importer::entry, {test_data("tegrastats/tx2.log"), 500'000'000});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().period_s, 0.5);
  EXPECT_EQ(run->duration_s(), 1);
}

TEST_F(Import, tegrastats_with_a_clock_shows_where_lines_are_missing) {
  const auto run =
      imported(tegrastats_importer::entry, {test_data("tegrastats/orin.log"), std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().period_s, 1);
  EXPECT_EQ(run->sampling().samples, 4);
  EXPECT_EQ(run->sampling().missed, 4);
  EXPECT_EQ(run->duration_s(), 7);
  ASSERT_EQ(run->sampling().gaps.size(), 1U);
  EXPECT_EQ(run->sampling().gaps[0].reason, "the imported recording has no rows here");
  EXPECT_THAT(run->manifest().notes, Contains(HasSubstr("the first is 2023-03-04T12:00:01")));
  // A sensor that never reported a true value is absent, not 0.
  for (const Series& series : run->series()) {
    if (series_text(series) != "hw.temperature{sensor=CV0}") continue;
    EXPECT_EQ(series.status, SeriesStatus::absent);
  }
}

TEST_F(Import, tegrastats_several_lines_a_second) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += "01-01-2024 00:00:" + std::string(i / 2 < 10 ? "0" : "") + std::to_string(i / 2) +
            " RAM 1/2MB CPU [1%@2]\n";
  }
  const auto run = imported(tegrastats_importer::entry, {write("fast.log", text), std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().period_s, 0.5);
  EXPECT_EQ(run->sampling().missed, 0);
  EXPECT_EQ(run->duration_s(), 9.5);
}

std::string lines_at(const std::vector<std::string>& clocks) {
  std::string text;
  for (const std::string& clock : clocks) text += clock + " RAM 1/2MB CPU [1%@2]\n";
  return text;
}

TEST_F(Import, tegrastats_stands_a_wild_clock) {
  const std::string log =
      write("wild.log", lines_at({"01-01-2024 00:00:00", "01-01-2024 00:00:01",
                                  "01-01-2024 00:00:02", "12-31-9999 23:59:59"}));
  const auto run = imported(tegrastats_importer::entry, {log, std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().samples, 4);
  EXPECT_EQ(run->sampling().missed, 0);
  EXPECT_EQ(run->duration_s(), 3);
  EXPECT_THAT(run->manifest().notes, Contains(HasSubstr("jump ahead by more than a day")));
  EXPECT_THAT(run->manifest().notes, Not(Contains(HasSubstr("go back"))));
}

TEST_F(Import, tegrastats_of_a_board_that_starts_in_1970) {
  const std::string log = write(
      "board.log", lines_at({"01-01-1970 00:00:10", "01-01-1970 00:00:15", "11-16-2022 00:00:00",
                             "11-16-2022 00:00:05", "11-16-2022 00:00:15"}));
  const auto run = imported(tegrastats_importer::entry, {log, std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().period_s, 5);
  EXPECT_EQ(run->sampling().samples, 5);
  EXPECT_EQ(run->sampling().missed, 1);  // rows that are missing afterwards are still detected
  EXPECT_EQ(run->duration_s(), 25);
}

TEST_F(Import, tegrastats_whose_clock_was_set_back_has_a_clock) {
  const std::string log =
      write("back.log", lines_at({"12-31-9999 02:59:58", "12-31-9999 02:59:59",
                                  "10-27-2024 02:00:00", "10-27-2024 02:00:01"}));
  const auto run = imported(tegrastats_importer::entry, {log, std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().missed, 0);
  EXPECT_EQ(run->duration_s(), 3);
  const auto& notes = run->manifest().notes;
  EXPECT_THAT(notes, Contains(HasSubstr("timestamps go back")));
  EXPECT_THAT(notes, Contains(HasSubstr("the first is 9999-12-31T02:59:58")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("have no timestamps"))));
  // Pairs without information: each line is earlier than the one before it.
  const std::string other =
      write("down.log", lines_at({"10-27-2024 02:00:01", "10-27-2024 02:00:00"}));
  const auto down = imported(tegrastats_importer::entry, {other, std::nullopt});
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->sampling().period_s, 1);
  EXPECT_THAT(down->manifest().notes, Contains(HasSubstr("do not show how far apart")));
  EXPECT_THAT(down->manifest().notes, Not(Contains(HasSubstr("have no timestamps"))));
}

TEST_F(Import, times_that_no_run_can_hold_are_refused) {
  struct FarRows : RowSource {
    Result<bool> next(RowTime& time, std::span<int64_t> /*values*/) override {
      time = {row * (int64_t{1} << 50), 0};
      return row++ < 3;
    }
    int64_t row = 0;
  };
  auto read = tegrastats_importer::entry.read({test_data("tegrastats/tx2.log"), std::nullopt});
  ASSERT_TRUE(read);
  read->rows = std::make_unique<FarRows>();
  const auto kept = write_run(home(), *read);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message(),
            "row 2 is more than 146 years from the first one: too long for a run");
  EXPECT_THAT(*list_folder(home()), testing::IsEmpty());
}

TEST_F(Import, tegrastats_name_the_bad_line) {
  const std::string path = write("bad.log", "RAM 1/2MB CPU [1%@2]\n\nRAM 1/2 CPU [1%@2]\n");
  EXPECT_EQ(problem(tegrastats_importer::entry, path), path + ":3: RAM is followed by '1/2'");
  EXPECT_THAT(problem(tegrastats_importer::entry, write("empty.log", "\n")), HasSubstr("no lines"));
  EXPECT_THAT(problem(tegrastats_importer::entry, folder_), HasSubstr("is not a regular file"));
}

TEST_F(Import, formats_are_recognised) {
  EXPECT_TRUE(collect_logs_importer::entry.recognises(test_data("collect-logs")));
  EXPECT_FALSE(collect_logs_importer::entry.recognises(test_data("tegrastats")));
  EXPECT_TRUE(tegrastats_importer::entry.recognises(test_data("tegrastats/orin.log")));
  EXPECT_FALSE(tegrastats_importer::entry.recognises(test_data("collect-logs")));
  EXPECT_FALSE(tegrastats_importer::entry.recognises(test_data("collect-logs/cpu.out")));
}

TEST_F(Import, a_run_that_cannot_be_kept_leaves_nothing) {
  auto read = tegrastats_importer::entry.read({test_data("tegrastats/tx2.log"), std::nullopt});
  ASSERT_TRUE(read);
  const std::string file = write("file", "");
  EXPECT_FALSE(write_run(file, *read));
  const auto made = write_run(home(), *read);
  ASSERT_TRUE(made);
  const auto names = list_folder(home());
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, testing::ElementsAre(made->manifest.id));
}

TEST_F(Import, tegrastats_with_too_many_fields_is_refused) {
  std::string line = "RAM 1/2MB CPU [1%@2]";
  for (int i = 0; i < 2000; ++i) line += " e" + std::to_string(i) + " 1";
  const std::string path = write("wide.log", "RAM 1/2MB CPU [1%@2]\n" + line + "\n");
  EXPECT_EQ(problem(tegrastats_importer::entry, path),
            path + ":2: more than 1024 different fields");
  const std::string other = write("long.log", "RAM 1/2MB CPU [1%@2]\n" + std::string(70000, 'x'));
  EXPECT_EQ(problem(tegrastats_importer::entry, other),
            other + ":2: it is longer than 65536 bytes");
}

TEST_F(Import, a_file_that_changes_while_it_is_read_leaves_nothing) {
  const std::string path = write("changing.log", "RAM 1/2MB CPU [1%@2]\nRAM 1/2MB CPU [2%@2]\n");
  const auto read = tegrastats_importer::entry.read({path, std::nullopt});
  ASSERT_TRUE(read);
  std::ofstream(path) << "RAM 1/2MB CPU [1%@2]\n";
  const auto kept = write_run(home(), *read);
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().message(), HasSubstr("changed while it was read"));
  EXPECT_THAT(*list_folder(home()), testing::IsEmpty());
}

TEST_F(Import, a_many_times_longer_temperature_file_is_not_that_many_devices) {
  write("many/cpu.out", "1 0 0 0 0 0 0 0 0 99\n");
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "50\n";
  write("many/gputemp.out", text);
  const auto run = imported(collect_logs_importer::entry, {folder_ + "/many", std::nullopt});
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->sampling().samples, 1000);
  EXPECT_EQ(summary_of(*run, "hw.gpu.temperature{gpu=0}").samples, 1000);
  EXPECT_EQ(summary_of(*run, "system.cpu.utilization{cpu=all}").samples, 1);
}

TEST_F(Import, an_imported_run_is_rebuilt_without_its_manifest) {
  auto read = tegrastats_importer::entry.read({test_data("tegrastats/tx2.log"), std::nullopt});
  ASSERT_TRUE(read);
  read->manifest.name = "board";
  const auto kept = write_run(home(), *read);
  ASSERT_TRUE(kept);
  std::filesystem::remove(kept->path + "/manifest.json");
  const auto run = open_run(kept->path);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ((*run)->manifest().name, "board");
  EXPECT_EQ((*run)->manifest().imported_format, "tegrastats");
  EXPECT_EQ((*run)->duration_s(), 2);
}

}  // namespace import_test
}  // namespace trainscope
