#include "format/manifest.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace manifest_test {

TEST(manifest, every_field_comes_back) {
  Manifest m;
  m.id = "0123456789";
  m.name = "a \"name\"";
  m.note = "note";
  m.tags = {{"lr", "0.1"}};
  m.started = "2026-01-02T03:04:05.000Z";
  m.ended = "2026-01-02T03:04:06.000Z";
  m.duration_s = 1.0000001;
  m.command = {"python", "train.py", "ü"};
  m.after_command = "sync";
  m.working_directory = "/x";
  m.attached = true;
  m.imported_format = "tegrastats";
  m.imported_path = "/logs/board.txt";
  m.exit_code = 7;
  m.signal = 9;
  m.after_exit_code = 1;
  m.ended_by = EndedBy::time_limit;
  m.host_name = "node1";
  m.boot_id = "b";
  m.trainscope_version = "0.1.0";
  m.rank = 3;
  m.world_size = 8;
  m.local_rank = 1;
  m.job = "slurm-4711.0";
  m.restart = 2;
  m.records_machine = false;
  m.repeat = {"repeat-0123456788", 2, 5};
  m.period_ns = 20'000'000;
  m.zero_monotonic_ns = 1;
  m.zero_boottime_ns = 2;
  m.zero_realtime_ns = 3;
  m.supervisor_pid = 4;
  m.supervisor_start_ticks = 5;
  m.bytes_written = 4711;
  m.limits.emplace();
  m.limits->host = "node1";
  m.limits->limits = {
      {"disk.open", 9000, "{file}/s", "128 files", "2026-01-01T00:00:00.000Z", "/data", "sda"}};
  m.settings = {{"every", "20ms", "flag"}};
  m.phases = {{"load", 0, 1.5}, {"train", 1.5, std::nullopt}};
  m.notes = {"watch out"};
  const auto back = manifest_from_json(manifest_to_json(m));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(manifest_to_json(*back), manifest_to_json(m));
  EXPECT_EQ(back->duration_s, m.duration_s);
  EXPECT_EQ(back->command, m.command);
  EXPECT_EQ(back->job, "slurm-4711.0");
  EXPECT_EQ(back->restart, 2);
  EXPECT_FALSE(back->records_machine);
  EXPECT_EQ(back->repeat.group, "repeat-0123456788");
  EXPECT_EQ(back->repeat.index, 2);
  EXPECT_EQ(back->repeat.count, 5);
  ASSERT_TRUE(back->limits);
  ASSERT_EQ(back->limits->limits.size(), 1U);
  EXPECT_EQ(back->limits->limits[0].value, 9000);
  EXPECT_EQ(back->ended_by, EndedBy::time_limit);
  EXPECT_EQ(back->phases[1].to_s, std::nullopt);
}

TEST(manifest, a_running_one_has_nulls) {
  Manifest m;
  m.id = "0123456789";
  const std::string text = manifest_to_json(m);
  EXPECT_NE(text.find("\"ended\": null"), std::string::npos);
  EXPECT_NE(text.find("\"ended_by\": null"), std::string::npos);
  EXPECT_NE(text.find("\"exit_code\": null"), std::string::npos);
  const auto back = manifest_from_json(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->ended_by, EndedBy::running);
  EXPECT_FALSE(back->exit_code);
}

TEST(manifest, unknown_fields_and_wrong_types_do_no_harm) {
  const auto m = manifest_from_json(
      R"({"schema":"trainscope.manifest/1","id":"0123456789","new":[1],"exit_code":"x","tags":[],
          "command":[1,"a"],"duration_s":1e300,"settings":[5],"phases":{"a":1},"rank":1.5,
          "limits":{"schema":"trainscope.limits/1","host":"a","limits":[1]}})");
  ASSERT_TRUE(m);
  EXPECT_FALSE(m->limits);
  EXPECT_FALSE(m->exit_code);
  EXPECT_FALSE(m->duration_s);
  EXPECT_EQ(m->command, std::vector<std::string>{"a"});
}

TEST(manifest, one_of_an_earlier_version_has_no_group) {
  const std::string begin = R"({"schema":"trainscope.manifest/1","id":"0123456789")";
  const auto first = manifest_from_json(begin + R"(,"rank":2,"world_size":4,"local_rank":0})");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->job, "");
  EXPECT_EQ(first->repeat.group, "");
  EXPECT_TRUE(first->records_machine);
  const auto second = manifest_from_json(begin + R"(,"rank":3,"world_size":4,"local_rank":1})");
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->records_machine);
  const auto wrong = manifest_from_json(
      begin + R"(,"job":7,"restart":"x","records_machine":1,"repeat":{"group":1,"index":"a"}})");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->job, "");
  EXPECT_EQ(wrong->restart, 0);
  EXPECT_EQ(wrong->repeat.group, "");
}

TEST(manifest, what_is_none_is_refused) {
  for (const char* text :
       {"", "{}", "[]", "{\"schema\":\"trainscope.manifest/2\",\"id\":\"0\"}",
        "{\"schema\":\"trainscope.manifest/1\"}", "\xff\xfe",
        "{\"schema\":\"trainscope.manifest/1\",\"id\":\"0\",\"period_ns\":-1}"}) {
    EXPECT_FALSE(manifest_from_json(text)) << text;
  }
}

TEST(manifest, a_command_that_is_not_utf8_can_be_written) {
  Manifest m;
  m.id = "0123456789";
  m.command = {"\xff\xfe"};
  EXPECT_TRUE(manifest_from_json(manifest_to_json(m)));
}

}  // namespace manifest_test
}  // namespace trainscope
