#include "record/supervise/keep_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.h"
#include "record/supervise/file_search.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace keep_files_test {

class keep_files_of_a_job : public ::testing::Test {
 protected:
  keep_files_of_a_job() {
    std::filesystem::create_directories(job());
    std::filesystem::create_directories(run());
  }

  std::string job() const { return folder_.path() + "/job"; }
  std::string run() const { return folder_.path() + "/run"; }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = job() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    ASSERT_TRUE(replace_file(path.string(), text));
  }

  KeepResult keep(const std::vector<std::string>& patterns, KeepLimits limits = {}) const {
    limits.free_bytes = std::min<int64_t>(limits.free_bytes, 0);  // of the machine of the test
    auto result = keep_files({run(), job(), patterns}, limits);
    EXPECT_TRUE(result) << result.error().message();
    return std::move(*result);
  }

  std::vector<std::string> kept(const std::vector<std::string>& patterns) const {
    std::vector<std::string> paths;
    for (const KeptFile& file : keep(patterns).kept.files) paths.push_back(file.path);
    return paths;
  }

  std::string copy(size_t index) const {
    return *read_file(run() + "/kept/" + kept_file_name(index));
  }

 private:
  TemporaryFolder folder_;
};

using Paths = std::vector<std::string>;

TEST_F(keep_files_of_a_job, copies_and_their_index) {
  write("out/b.png", "second");
  write("out/a.png", "first");
  write("out/a.txt", "other");
  EXPECT_EQ(kept({"out/*.png"}), (Paths{"out/a.png", "out/b.png"}));
  EXPECT_EQ(copy(0), "first");
  EXPECT_EQ(copy(1), "second");
  const auto index = kept_files_from_json(*read_file(run() + "/kept/index.json"));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->files[1].path, "out/b.png");
  EXPECT_EQ(index->files[1].bytes, 6);
  EXPECT_GT(index->files[1].modified_ns, 0);
}

TEST_F(keep_files_of_a_job, patterns) {
  for (const char* name :
       {"a.png", "out/a.png", "out/x/y/b.png", "out/.hidden.png", ".git/c.png"}) {
    write(name, "x");
  }
  EXPECT_EQ(kept({"a.png"}), (Paths{"a.png"}));
  EXPECT_EQ(kept({"./out/./a.png"}), (Paths{"out/a.png"}));
  EXPECT_EQ(kept({"o?t/[a-b].png"}), (Paths{"out/a.png"}));
  EXPECT_EQ(kept({"out/"}), (Paths{"out/a.png"}));
  EXPECT_EQ(kept({"**/*.png"}), (Paths{"a.png", "out/a.png", "out/x/y/b.png"}));
  EXPECT_EQ(kept({"out/**"}), (Paths{"out/a.png", "out/x/y/b.png"}));
  EXPECT_EQ(kept({"out/.*"}), (Paths{"out/.hidden.png"}));
  EXPECT_EQ(kept({"../job/a.png"}), (Paths{"../job/a.png"}));
  EXPECT_EQ(kept({job() + "/out/*.png"}), (Paths{job() + "/out/a.png"}));
  // Each file once.
  EXPECT_EQ(kept({"*.png", "a.png", "**/a.png"}), (Paths{"a.png", "out/a.png"}));
}

TEST_F(keep_files_of_a_job, no_link_is_followed) {
  write("real/a.png", "x");
  write("target", "secret");
  std::filesystem::create_symlink(job() + "/target", job() + "/link.png");
  std::filesystem::create_directory_symlink(job() + "/real", job() + "/folder");
  EXPECT_EQ(kept({"folder/*.png"}), Paths{});
  const KeepResult result = keep({"*.png"});
  EXPECT_TRUE(result.kept.files.empty());
  ASSERT_EQ(result.kept.left_out.size(), 1U);
  EXPECT_EQ(result.kept.left_out[0].path, "link.png");
  EXPECT_NE(keep_warning(result).find("symbolic link"), std::string::npos);
}

TEST_F(keep_files_of_a_job, only_regular_files) {
  ASSERT_EQ(::mkfifo((job() + "/pipe.png").c_str(), 0600), 0);
  std::filesystem::create_directories(job() + "/folder.png");
  const KeepResult result = keep({"*.png"});
  EXPECT_TRUE(result.kept.files.empty());
  EXPECT_EQ(keep_warning(result), "--keep '*.png' matches no file");
}

TEST_F(keep_files_of_a_job, limits) {
  for (const char* name : {"1", "2", "3", "4"}) write(name, std::string(100, 'x'));
  KeepLimits few;
  few.files = 2;
  const KeepResult two = keep({"*"}, few);
  EXPECT_EQ(two.kept.files.size(), 2U);
  EXPECT_EQ(two.kept.left_out_count, 2);
  EXPECT_EQ(keep_warning(two),
            "2 files of --keep were not kept: 3: a run keeps at most 2 files (and others)");
  KeepLimits small;
  small.bytes = 250;
  const KeepResult fitting = keep({"*"}, small);
  EXPECT_EQ(fitting.kept.files.size(), 2U);
  EXPECT_EQ(fitting.kept.left_out[0].reason, "a run keeps at most 250 B of files");
}

TEST_F(keep_files_of_a_job, the_disk_is_not_filled) {
  write("a", "x");
  KeepLimits limits;
  limits.free_bytes = int64_t{1} << 60;
  const auto result = keep_files({run(), job(), {"a"}}, limits);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->kept.files.empty());
  EXPECT_EQ(result->kept.left_out[0].reason, "the disk of the run is almost full");
}

TEST_F(keep_files_of_a_job, hostile_names_are_no_paths) {
  const std::string name = "\"><script>alert(1)<\\n\n\xff.png";
  write(name, "x");
  EXPECT_EQ(kept({"*.png"}), Paths{name});
  EXPECT_EQ(list_folder(run() + "/kept").value(), (Paths{"0001", "index.json"}));
}

TEST_F(keep_files_of_a_job, the_run_itself_is_not_copied) {
  ASSERT_TRUE(replace_file(run() + "/manifest.json", "{}"));
  write("a", "x");
  EXPECT_EQ(kept({"../**"}), (Paths{"../job/a"}));
}

TEST_F(keep_files_of_a_job, an_unknown_working_directory) {
  const auto result = keep_files({run(), "", {"*.png"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(keep_warning(*result), "--keep '*.png': the working directory of the job is unknown");
}

TEST_F(keep_files_of_a_job, no_run_folder_is_an_error) {
  EXPECT_FALSE(keep_files({run() + "/gone", job(), {"*"}}));
}

TEST_F(keep_files_of_a_job, a_search_ends) {
  for (int i = 0; i < 30; ++i) write("folder/" + std::to_string(i), "x");
  const auto found = find_files(parse_file_pattern("folder/*", job()), {}, 10);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_complete);
  EXPECT_EQ(found->files.size(), 10U);
}

TEST_F(keep_files_of_a_job, a_file_that_became_a_link_is_not_opened) {
  write("target", "secret");
  std::filesystem::create_symlink(job() + "/target", job() + "/a");
  const UniqueFd folder(::open(job().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(open_found_file(folder.get(), "a"));
  EXPECT_TRUE(open_found_file(folder.get(), "target"));
}

}  // namespace keep_files_test
}  // namespace trainscope
