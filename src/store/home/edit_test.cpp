#include "store/home/edit.h"

#include <gtest/gtest.h>

#include "base/fd.h"
#include "base/json.h"
#include "format/format.h"
#include "store/store.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace edit_test {

class Edit : public testing::Test {
 protected:
  void SetUp() override {
    Manifest manifest;
    manifest.id = "0aaaaaaa00";
    manifest.name = "first";
    manifest.note = "a note";
    manifest.tags = {{"lr", "0.1"}, {"batch", "64"}};
    manifest.duration_s = 0.1;
    manifest.zero_realtime_ns = 1'794'742'200'123'456'789;
    Json json = parse_json(manifest_to_json(manifest));
    json["of_a_later_version"] = {1, "two"};
    ASSERT_TRUE(replace_file(folder_ + "/manifest.json", dump_json(json, 1) + "\n"));
    before_ = json;
  }
  Json on_disk() const { return parse_json(*read_file(folder_ + "/manifest.json")); }

  TemporaryFolder temporary_;
  const std::string& folder_ = temporary_.path();
  Json before_;
};

TEST_F(Edit, changes_what_is_given_and_nothing_else) {
  RunEdit edit;
  edit.name = "second";
  edit.tags = {{"lr", "0.2"}, {"seed", "7"}};
  ASSERT_TRUE(edit_run(folder_, edit));
  Json expected = before_;
  expected["name"] = "second";
  expected["tags"] = {{"lr", "0.2"}, {"batch", "64"}, {"seed", "7"}};
  EXPECT_EQ(on_disk(), expected);
  EXPECT_EQ(list_folder(folder_)->size(), 1U);  // no other file is left
}

TEST_F(Edit, removes_names_notes_and_tags) {
  RunEdit edit;
  edit.name = "";
  edit.note = "";
  edit.removed_tags = {"lr"};
  ASSERT_TRUE(edit_run(folder_, edit));
  const auto manifest = read_manifest(folder_);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->name, "");
  EXPECT_EQ(manifest->note, "");
  EXPECT_EQ(manifest->tags, (std::map<std::string, std::string>{{"batch", "64"}}));
}

TEST_F(Edit, a_tag_that_is_not_there_cannot_be_removed) {
  RunEdit edit;
  edit.note = "another";
  edit.removed_tags = {"size"};
  const Status done = edit_run(folder_, edit);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "the run has no tag 'size'");
  EXPECT_EQ(on_disk(), before_);
}

TEST_F(Edit, a_damaged_manifest_stays_as_it_is) {
  ASSERT_TRUE(replace_file(folder_ + "/manifest.json", "{"));
  RunEdit edit;
  edit.name = "x";
  EXPECT_FALSE(edit_run(folder_, edit));
  EXPECT_EQ(*read_file(folder_ + "/manifest.json"), "{");
}

}  // namespace edit_test
}  // namespace trainscope
