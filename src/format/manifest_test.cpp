#include "format/manifest.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace {

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
  m.period_ns = 20'000'000;
  m.zero_monotonic_ns = 1;
  m.zero_boottime_ns = 2;
  m.zero_realtime_ns = 3;
  m.supervisor_pid = 4;
  m.supervisor_start_ticks = 5;
  m.bytes_written = 4711;
  m.settings = {{"every", "20ms", "flag"}};
  m.phases = {{"load", 0, 1.5}, {"train", 1.5, std::nullopt}};
  m.notes = {"watch out"};
  const auto back = manifest_from_json(manifest_to_json(m));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(manifest_to_json(*back), manifest_to_json(m));
  EXPECT_EQ(back->duration_s, m.duration_s);
  EXPECT_EQ(back->command, m.command);
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
          "command":[1,"a"],"duration_s":1e300,"settings":[5],"phases":{"a":1},"rank":1.5})");
  ASSERT_TRUE(m);
  EXPECT_FALSE(m->exit_code);
  EXPECT_FALSE(m->duration_s);
  EXPECT_EQ(m->command, std::vector<std::string>{"a"});
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

}  // namespace
}  // namespace trainscope
