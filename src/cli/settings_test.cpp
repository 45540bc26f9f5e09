#include "cli/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "collect/support/test_root.h"

namespace trainscope {
namespace {

using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
 protected:
  Result<Settings> load() {
    SettingSources sources;
    sources.environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    sources.user_file = root_.at(kUser);
    sources.working_file = root_.at(kHere);
    sources.working_directory = root_.at("/w");
    return Settings::load_from(sources);
  }
  std::string error() {
    const auto loaded = load();
    return loaded ? "no error" : loaded.error().message();
  }

  const std::string kUser = "/config/trainscope.toml", kHere = "/w/trainscope.toml";
  TestRoot root_;
  std::map<std::string, std::string> variables_ = {{"HOME", "/home/ann"}};
};

TEST_F(SettingsTest, DefaultsAreNamedSo) {
  const auto settings = load();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->get("every").value, "100ms");
  EXPECT_EQ(settings->get("every").from, "default");
  EXPECT_EQ(settings->home(), "/home/ann/.local/share/trainscope");
  EXPECT_EQ(settings->all().size(), setting_specs().size());
}

TEST_F(SettingsTest, FlagBeforeEnvironmentBeforeFilesBeforeDefault) {
  root_.write(kUser, "every = \"1s\"\ngrace = \"2s\"\nname = \"user\"\n");
  root_.write(kHere, "every = \"3s\"\nname = \"here\"\n");
  variables_["TRAINSCOPE_EVERY"] = "4s";
  auto settings = load();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->get("every").value, "4s");
  EXPECT_EQ(settings->get("every").from, "environment");
  EXPECT_EQ(settings->get("name").value, "here");
  EXPECT_EQ(settings->get("name").from, "file " + root_.at(kHere));
  EXPECT_EQ(settings->get("grace").from, "file " + root_.at(kUser));
  settings->set_from_flag("every", "5s");
  EXPECT_EQ(settings->get("every").value, "5s");
  EXPECT_EQ(settings->get("every").from, "flag");
}

TEST_F(SettingsTest, AnEmptyVariableIsUnset) {
  root_.write(kHere, "name = \"here\"\n");
  variables_["TRAINSCOPE_NAME"] = "";
  EXPECT_EQ(load()->get("name").value, "here");
}

TEST_F(SettingsTest, ACommandComesFromTheUserNotFromTheWorkingDirectory) {
  root_.write(kUser, "after = \"true\"\n");
  EXPECT_EQ(load()->get("after").value, "true");
  root_.write(kHere, "name = \"x\"\n\nafter = \"rm -rf ~\"\n");
  EXPECT_THAT(error(), HasSubstr(root_.at(kHere) + ":3: 'after' names a command"));
}

// A stranger's file could show us a stranger's runs, or read any file into ours.
TEST_F(SettingsTest, AWorkingDirectoryNamesNoPath) {
  root_.write(kHere, "home = \"/tmp/stranger\"\n");
  EXPECT_THAT(error(), HasSubstr(root_.at(kHere) + ":1: 'home' names a folder"));
  EXPECT_THAT(error(), HasSubstr("use --home, TRAINSCOPE_HOME or your user configuration file"));
  root_.write(kHere, "counter = \"x:int@/etc/shadow+\"\n");
  EXPECT_THAT(error(), HasSubstr(root_.at(kHere) + ":1: 'counter' names files"));
  root_.write(
      kHere,
      "every = \"1s\"\nfor = \"2s\"\ngrace = \"3s\"\nname = \"n\"\nnote = \"t\"\nquiet = true\n");
  EXPECT_EQ(error(), "no error");
}

TEST_F(SettingsTest, TheUsersOwnFolderAsWorkingDirectoryIsTrusted) {
  root_.write(kUser, "after = \"true\"\n");
  root_.write("/w/x", "");
  std::filesystem::create_symlink("../config/trainscope.toml", root_.at(kHere));
  EXPECT_EQ(load()->get("after").value, "true");
}

TEST_F(SettingsTest, UnknownKeysNameFileLineAndTheNearest) {
  root_.write(kHere, "# mine\nevry = \"1s\"\n");
  EXPECT_EQ(error(), root_.at(kHere) + ":2: unknown setting 'evry'; did you mean 'every'?");
  root_.write(kHere, "[recorder]\nx = 1\n");
  EXPECT_EQ(error(), root_.at(kHere) + ":1: unknown setting 'recorder'");
}

TEST_F(SettingsTest, SyntaxErrorsNameFileAndLine) {
  root_.write(kUser, "name = \"x\"\nevery = 1s\n");
  EXPECT_THAT(error(), HasSubstr(root_.at(kUser) + ":2: "));
}

TEST_F(SettingsTest, ScalarsAreAcceptedTablesAreNot) {
  root_.write(kHere, "quiet = true\nfor = 90\ngrace = 2.5\n");
  EXPECT_EQ(load()->get("quiet").value, "true");
  EXPECT_EQ(load()->get("for").value, "90");
  EXPECT_EQ(load()->get("grace").value, "2.5");
  root_.write(kHere, "name = [1, 2]\n");
  EXPECT_THAT(error(), HasSubstr(":1: name: expected a string, a number, true or false"));
}

TEST_F(SettingsTest, RelativeHomes) {
  root_.write(kUser, "home = \"runs\"\n");
  EXPECT_EQ(load()->home(), root_.at("/config/runs"));
  variables_["TRAINSCOPE_HOME"] = "mine";
  EXPECT_EQ(load()->home(), root_.at("/w/mine"));
  variables_["TRAINSCOPE_HOME"] = "/abs";
  EXPECT_EQ(load()->home(), "/abs");
}

TEST_F(SettingsTest, XdgFoldersCountWhenAbsolute) {
  variables_["XDG_DATA_HOME"] = "/data";
  EXPECT_EQ(load()->home(), "/data/trainscope");
  variables_["XDG_DATA_HOME"] = "data";
  EXPECT_EQ(load()->home(), "/home/ann/.local/share/trainscope");
}

TEST_F(SettingsTest, AFifoInPlaceOfAFileIsRefusedNotWaitedFor) {
  root_.write("/w/x", "");
  ASSERT_EQ(::mkfifo(root_.at(kHere).c_str(), 0600), 0);
  EXPECT_THAT(error(), HasSubstr("is not a regular file"));
}

TEST_F(SettingsTest, Origins) {
  EXPECT_EQ(setting_origin({"every", "x", "flag"}), "--every");
  EXPECT_EQ(setting_origin({"every", "x", "environment"}), "TRAINSCOPE_EVERY");
  EXPECT_EQ(setting_origin({"every", "x", "file /a/b"}), "every in /a/b");
}

}  // namespace
}  // namespace trainscope
