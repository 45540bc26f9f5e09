#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/clock.h"
#include "base/fd.h"
#include "format/format.h"
#include "model/model.h"
#include "store/read/run_id.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace home_test {

class Home : public testing::Test {
 protected:
  std::string add(const std::string& id, const std::string& name, bool ended = true) {
    const std::string path = home_ + "/" + id;
    ::mkdir(path.c_str(), 0700);
    Manifest m;
    m.id = id;
    m.name = name;
    m.started = utc_text(realtime_ns());
    if (ended) m.ended = m.started;
    EXPECT_TRUE(write_manifest(path, m));
    put(path + "/samples-0001.seg", file_header());
    return path;
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string found(const std::string& text) const {
    const auto path = find_run(home_, text);
    return path ? path->substr(home_.size() + 1) : "error: " + path.error().message();
  }

  TemporaryFolder temporary_;
  const std::string home_ = temporary_.path();
};

TEST(run_id, sorts_by_time) {
  std::string last;
  for (int64_t ms = 1'700'000'000'000; ms < 1'700'000'100'000; ms += 997) {
    const std::string id = make_run_id(ms * 1'000'000, 1023);
    EXPECT_TRUE(is_run_id(id)) << id;
    EXPECT_LT(last, id);
    last = id;
  }
  EXPECT_EQ(make_run_id(1'577'836'800'000'000'000, 0), "0000000000");
  EXPECT_EQ(make_run_id(1'577'836'800'033'000'000, 33), "0000001111");
  EXPECT_FALSE(is_run_id("000000000i"));
  EXPECT_FALSE(is_run_id("000000000"));
  EXPECT_FALSE(is_run_id("000000000A"));
}

TEST_F(Home, new_runs_never_collide) {
  std::set<std::string> ids;
  for (int i = 0; i < 64; ++i) {
    const auto run = create_run(home_ + "/a/b");
    ASSERT_TRUE(run) << run.error().message();
    EXPECT_TRUE(ids.insert(run->id).second);
    struct stat info {};
    ASSERT_EQ(::stat(run->path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U);
  }
}

TEST_F(Home, a_home_that_cannot_be_made_says_what_to_do) {
  const auto run = create_run("/dev/null/home");
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message().find("TRAINSCOPE_HOME"), std::string::npos);
  EXPECT_NE(run.error().message().find("/dev/null"), std::string::npos);
}

TEST_F(Home, runs_are_found_in_the_order_of_the_contract) {
  add("0aaaaaaa00", "one");
  add("0aaaaaab00", "two");
  add("0bbbbbbb00", "one");
  EXPECT_EQ(found("0aaaaaaa00"), "0aaaaaaa00");
  EXPECT_EQ(found("one"), "0bbbbbbb00");
  EXPECT_EQ(found("two"), "0aaaaaab00");
  EXPECT_EQ(found("0b"), "0bbbbbbb00");
  EXPECT_EQ(found("latest"), "0bbbbbbb00");
  EXPECT_EQ(found("latest~2"), "0aaaaaaa00");
  EXPECT_EQ(found(home_ + "/0aaaaaab00"), "0aaaaaab00");
  EXPECT_NE(found("0a").find("use a longer prefix"), std::string::npos);
  EXPECT_NE(found("latest~3").find("only 3"), std::string::npos);
  EXPECT_NE(found("twi").find("did you mean two (0aaaaaab00)"), std::string::npos) << found("twi");
  EXPECT_NE(found("/nowhere/x").find("/nowhere/x"), std::string::npos);
  ::mkdir((home_ + "/0ccccccc00").c_str(), 0700);  // nothing in it yet
  EXPECT_EQ(found("latest"), "0bbbbbbb00");
}

// How often files of these folders were opened since the watch began.
class OpenWatch {
 public:
  explicit OpenWatch(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      EXPECT_GE(::inotify_add_watch(fd_.get(), folder.c_str(), IN_OPEN), 0) << folder;
    }
  }
  size_t count() const {
    alignas(inotify_event) char bytes[4096];
    const ssize_t n = ::read(fd_.get(), bytes, sizeof bytes);
    size_t events = 0;
    for (ssize_t at = 0; at < n; ++events) {
      inotify_event event{};
      std::memcpy(&event, bytes + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
    return events;
  }

 private:
  UniqueFd fd_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

TEST_F(Home, finding_a_run_opens_no_more_files_than_it_needs) {
  const std::vector<std::string> folders = {add("0aaaaaaa00", "one"), add("0aaaaaab00", "two"),
                                            add("0bbbbbbb00", "one")};
  const OpenWatch watch(folders);
  for (const char* text : {"latest", "latest~1", "latest~9", "0aaaaaaa00"}) {
    found(text);
    EXPECT_EQ(watch.count(), 0U) << text;
  }
  for (const char* text : {"two", "0b", "three"}) {  // names: all manifests, no samples
    found(text);
    EXPECT_EQ(watch.count(), folders.size()) << text;
  }
}

TEST_F(Home, finds_runs_before_the_newest_of_a_name_and_by_pattern) {
  add("0aaaaaaa00", "one");
  add("0aaaaaab00", "two");
  add("0bbbbbbb00", "one");
  add("0ccccccc00", "");
  add("0ddddddd00", "other");
  EXPECT_EQ(found("one"), "0bbbbbbb00");
  EXPECT_EQ(found("one~0"), "0bbbbbbb00");
  EXPECT_EQ(found("one~1"), "0aaaaaaa00");
  EXPECT_NE(found("one~2").find("only 2 runs have the name 'one'"), std::string::npos);
  EXPECT_NE(found("two~1").find("only 1 run has the name 'two'"), std::string::npos);
  EXPECT_NE(found("nix~1").find("no run matches 'nix'"), std::string::npos);
  EXPECT_EQ(found("o*"), "0ddddddd00");
  EXPECT_EQ(found("o*~1"), "0bbbbbbb00");
  EXPECT_NE(found("x*").find("no run matches 'x*'"), std::string::npos);
  const auto all = [&](const char* text) {
    const auto paths = find_runs(home_, text);
    return paths ? paths->size() : 0;
  };
  EXPECT_EQ(all("one"), 2U);
  EXPECT_EQ(all("one~1"), 1U);
  EXPECT_EQ(all("o*"), 3U);
  EXPECT_EQ(all("*"), 4U);  // the run without a name is not among them
  EXPECT_EQ(all("latest"), 1U);
  EXPECT_EQ(all("0c"), 1U);
}

// `rm dist` must not take the folder that a web tool has made.
TEST_F(Home, a_folder_with_the_manifest_of_another_program_is_no_run) {
  const std::string foreign = home_ + "/dist";
  ::mkdir(foreign.c_str(), 0700);
  put(foreign + "/manifest.json", R"({"index.html": {"file": "assets/index.js"}})");
  EXPECT_NE(found(foreign).find("not written by Trainscope"), std::string::npos) << found(foreign);
  // A run of that name is meant then.
  add("0aaaaaaa00", foreign);
  EXPECT_EQ(found(foreign), "0aaaaaaa00");
}

TEST_F(Home, a_damaged_run_is_found_by_its_path) {
  const std::string path = add("0aaaaaaa00", "torn");
  put(path + "/manifest.json", "{");
  EXPECT_EQ(found(path + "/"), "0aaaaaaa00/");
  put(path + "/manifest.json", R"({"schema": "trainscope.manifest/9"})");
  EXPECT_EQ(found(path), "0aaaaaaa00");
}

TEST_F(Home, names_may_hold_a_slash) {
  add("0aaaaaaa00", "exp/lr0.1");
  EXPECT_EQ(found("exp/lr0.1"), "0aaaaaaa00");
  EXPECT_NE(found("exp/lr0.2").find("does not exist"), std::string::npos);
}

TEST_F(Home, foreign_files_are_ignored_and_damage_stops_nothing) {
  add("0aaaaaaa00", "good");
  put(add("0bbbbbbb00", "torn") + "/samples-0001.seg", "TRAIN");
  put(add("0ccccccc00", "noise") + "/samples-0001.seg", std::string(100, 'x'));
  put(add("0ddddddd00", "bad") + "/manifest.json", "{");
  ::mkdir((home_ + "/elsewhere").c_str(), 0700);
  ::mkdir((home_ + "/0eeeeeee00").c_str(), 0700);  // nothing in it yet
  put(home_ + "/notes.txt", "x");
  const auto runs = list_runs(home_);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 4U);
  EXPECT_EQ((*runs)[0].status, RunStatus::ended);
  EXPECT_EQ((*runs)[1].status, RunStatus::ended);
  EXPECT_EQ((*runs)[2].status, RunStatus::damaged);
  EXPECT_NE((*runs)[2].problem.find("samples-0001.seg"), std::string::npos);
  EXPECT_EQ((*runs)[3].status, RunStatus::damaged);
  EXPECT_EQ((*runs)[3].manifest.id, "0ddddddd00");
  EXPECT_NE((*runs)[3].problem.find("manifest.json"), std::string::npos);
}

// The process that ends a run removes `tail` while the run is listed.
TEST_F(Home, a_file_that_disappears_is_no_damage) {
  const std::string path = add("0aaaaaaa00", "just ended");
  ASSERT_EQ(::symlink("nowhere", (path + "/tail").c_str()), 0);
  const RunListing run = list_run(path);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.status, RunStatus::ended);
}

TEST_F(Home, a_run_is_listed_by_any_path_that_leads_to_it) {
  const std::string path = add("0aaaaaaa00", "here");
  const auto working_directory = std::filesystem::current_path();
  std::filesystem::current_path(home_);
  for (const std::string& given : {std::string("0aaaaaaa00"), std::string("./0aaaaaaa00"),
                                   std::string("0aaaaaaa00/"), path, path + "//"}) {
    const RunListing run = list_run(given);
    EXPECT_EQ(run.problem, "") << given;
    EXPECT_EQ(run.manifest.name, "here") << given;
    EXPECT_EQ(run.path, given);
  }
  std::filesystem::current_path(working_directory);
}

// Of large files only the ends are read.
TEST_F(Home, the_last_sample_of_a_large_run_is_found) {
  const std::string path = add("0aaaaaaa00", "killed");
  std::string bytes = file_header();
  append_frame(bytes, FrameType::schema, 0,
               R"({"schema": 1, "stream": 0, "period_ns": 1000000000, "source": "s",
                   "columns": [], "missing": []})");
  const RowTime first[] = {{0, 0}, {1, 0}}, last[] = {{500, 0}, {501, 250'000}};
  append_frame(bytes, FrameType::times, 0, encode_times(0, 1, first));
  for (int i = 0; i < 7; ++i) {
    append_frame(bytes, FrameType{200}, 0, std::string((size_t{1} << 20) + 7, 'T'));
  }
  append_frame(bytes, FrameType::times, 0, encode_times(0, 2, last));
  put(path + "/samples-0001.seg", bytes);
  EXPECT_EQ(last_sample_s(path), 501.25);
  put(path + "/samples-0001.seg", "noise");
  EXPECT_EQ(last_sample_s(path), std::nullopt);
}

TEST_F(Home, a_home_that_is_not_there_has_no_runs) {
  const auto runs = list_runs(home_ + "/none");
  ASSERT_TRUE(runs);
  EXPECT_TRUE(runs->empty());
}

TEST_F(Home, a_run_is_running_while_its_supervisor_lives) {
  const std::string path = add("0aaaaaaa00", "", false);
  put(path + "/tail", file_header());
  auto m = *read_manifest(path);
  m.boot_id = *read_line("/proc/sys/kernel/random/boot_id");
  m.supervisor_pid = ::getpid();
  const std::string stat = *read_line("/proc/self/stat");
  std::string words = stat.substr(stat.rfind(')') + 2);
  for (int i = 0; i < 19; ++i) words.erase(0, words.find(' ') + 1);
  m.supervisor_start_ticks = std::stoll(words);
  const auto age = [&](int seconds) {
    const timespec times[2] = {{::time(nullptr) - seconds, 0}, {::time(nullptr) - seconds, 0}};
    ::utimensat(AT_FDCWD, (path + "/tail").c_str(), times, 0);
  };
  age(3600);
  EXPECT_EQ(run_status(path, m), RunStatus::running);
  m.supervisor_start_ticks += 1;  // its number was given to another process
  EXPECT_EQ(run_status(path, m), RunStatus::ended);
  age(0);  // the recorder outlived it
  EXPECT_EQ(run_status(path, m), RunStatus::running);
  m.boot_id = "another machine";
  EXPECT_EQ(run_status(path, m), RunStatus::running);
  age(90);  // a network file system shows it late
  EXPECT_EQ(run_status(path, m), RunStatus::running);
  age(400);
  EXPECT_EQ(run_status(path, m), RunStatus::ended);
  m.period_ns = 60'000'000'000;
  EXPECT_EQ(run_status(path, m), RunStatus::running);
  m.ended = "2026-01-02T03:04:06.000Z";
  EXPECT_EQ(run_status(path, m), RunStatus::ended);
}

TEST_F(Home, removing_takes_only_what_is_ours_and_follows_no_link) {
  const std::string path = add("0aaaaaaa00", "");
  const std::string outside = home_ + "/outside";
  put(outside, "keep");
  ASSERT_EQ(::symlink(outside.c_str(), (path + "/tail").c_str()), 0);
  put(path + "/mine.txt", "keep");
  const auto removed = remove_run(path);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->foreign, std::vector<std::string>{"mine.txt"});
  EXPECT_TRUE(exists(path + "/mine.txt"));
  EXPECT_FALSE(exists(path + "/manifest.json"));
  EXPECT_EQ(*read_file(outside), "keep");
  ::unlink((path + "/mine.txt").c_str());
  ASSERT_TRUE(remove_run(path));
  EXPECT_FALSE(exists(path));

  const std::string real = add("0bbbbbbb00", ""), link = home_ + "/0ccccccc00";
  ASSERT_EQ(::symlink(real.c_str(), link.c_str()), 0);
  EXPECT_FALSE(remove_run(link));
  EXPECT_TRUE(exists(real + "/manifest.json"));
}

class NoRows : public RowSource {
 public:
  Result<bool> next(RowTime& /*time*/, std::span<int64_t> /*values*/) override { return false; }
};

TEST_F(Home, what_a_killed_import_left_is_removed_after_a_day) {
  const auto leave = [&](const std::string& id, const std::string& name, int64_t age_s) {
    const std::string folder = home_ + "/" + name;
    ::mkdir((home_ + "/" + id).c_str(), 0700);
    ::mkdir(folder.c_str(), 0700);
    put(folder + "/samples-0001.seg", file_header());
    const timespec old = {::time(nullptr) - age_s, 0};
    const timespec times[2] = {old, old};
    ::utimensat(AT_FDCWD, (folder + "/samples-0001.seg").c_str(), times, 0);
    ::utimensat(AT_FDCWD, folder.c_str(), times, 0);
  };
  leave("0aaaaaaa00", ".import-0aaaaaaa00", 2 * 86'400);
  leave("0aaaaaab00", ".import-0aaaaaab00", 3600);
  leave("0aaaaaac00", ".import-of-mine", 2 * 86'400);
  RunData run;
  run.manifest.period_ns = 100'000'000;
  run.rows = std::make_unique<NoRows>();
  ASSERT_TRUE(write_run(home_, run));
  EXPECT_FALSE(exists(home_ + "/.import-0aaaaaaa00"));
  EXPECT_FALSE(exists(home_ + "/0aaaaaaa00"));
  EXPECT_TRUE(exists(home_ + "/.import-0aaaaaab00/samples-0001.seg"));
  EXPECT_TRUE(exists(home_ + "/0aaaaaab00"));
  EXPECT_TRUE(exists(home_ + "/.import-of-mine/samples-0001.seg"));
}

TEST_F(Home, a_fifo_in_a_run_folder_stalls_nobody) {
  const std::string path = add("0aaaaaaa00", "");
  ASSERT_EQ(::mkfifo((path + "/samples-0002.seg").c_str(), 0600), 0);
  const auto run = open_run(path);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message().find("samples-0002.seg"), std::string::npos);
}

}  // namespace home_test
}  // namespace trainscope
