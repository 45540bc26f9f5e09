#include "cli/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/recording.h"
#include "cli/setting_table.h"
#include "testing/test_root.h"

namespace trainscope {
namespace settings_test {

using ::testing::HasSubstr;

// A valid value of a setting, another one for each k.
std::string sample_value(const SettingSpec& spec, int k) {
  const std::string number = std::to_string(k + 1);
  if (spec.value == "SPEC") return "c" + number + ":/x+";
  if (spec.value == "REGEX") return "(?<step>" + number + ")";
  if (spec.path != PathBase::not_a_path) return "/p" + number;
  if (std::holds_alternative<DurationField>(spec.field)) return number + "s";
  if (std::holds_alternative<IntegerField>(spec.field)) return number;
  if (std::holds_alternative<PairsField>(spec.field)) return "k=" + number;
  if (spec.is_switch()) return "true";
  return "x" + number;
}

std::string toml_line(const SettingSpec& spec, const std::string& value) {
  if (spec.is_switch()) return std::string(spec.name) + " = " + value + "\n";
  const std::string quoted = "'" + value + "'";
  return std::string(spec.name) + " = " + (spec.is_repeatable() ? "[" + quoted + "]" : quoted) +
         "\n";
}

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

TEST_F(SettingsTest, defaults_are_named_so) {
  const auto settings = load();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->get("every").value, "100ms");
  EXPECT_EQ(settings->get("every").from, "default");
  EXPECT_EQ(settings->home(), "/home/ann/.local/share/trainscope");
  EXPECT_EQ(settings->all().size(), setting_specs().size());
}

TEST_F(SettingsTest, flag_before_environment_before_files_before_default) {
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

TEST_F(SettingsTest, every_row_is_set_by_file_environment_and_flag) {
  for (const SettingSpec& spec : setting_specs()) {
    SCOPED_TRACE(spec.name);
    const std::string in_file = sample_value(spec, 0), in_environment = sample_value(spec, 1),
                      by_flag = sample_value(spec, 2);
    root_.write(kUser, toml_line(spec, in_file));
    auto settings = load();
    ASSERT_TRUE(settings) << settings.error().message();
    EXPECT_EQ(settings->get(spec.name).value, in_file);
    EXPECT_EQ(settings->get(spec.name).from, "file " + root_.at(kUser));
    variables_[setting_variable(spec.name)] = in_environment;
    settings = load();
    ASSERT_TRUE(settings) << settings.error().message();
    EXPECT_EQ(settings->get(spec.name).value, in_environment);
    EXPECT_EQ(settings->get(spec.name).from, "environment");
    settings->set_from_flag(spec.name, by_flag);
    EXPECT_EQ(settings->get(spec.name).value, by_flag);
    EXPECT_EQ(settings->get(spec.name).from, "flag");
    const auto options = recording_options(*settings);
    ASSERT_TRUE(options) << options.error().message();
    variables_.erase(setting_variable(spec.name));
  }
}

// A row that names something outside of the run must state it.
TEST_F(SettingsTest, the_working_directory_sets_only_what_names_nothing) {
  for (const SettingSpec& spec : setting_specs()) {
    SCOPED_TRACE(spec.name);
    root_.write(kHere, toml_line(spec, sample_value(spec, 0)));
    const bool leads_out = spec.path != PathBase::not_a_path || spec.value == "COMMAND" ||
                           spec.value == "SPEC" || spec.value == "DIR" || spec.value == "FILE" ||
                           spec.value == "PATH";
    EXPECT_EQ(!spec.names.empty(), leads_out);
    if (leads_out) {
      EXPECT_THAT(error(), HasSubstr(":1: '" + std::string(spec.name) + "' names "));
    } else {
      EXPECT_EQ(error(), "no error");
      EXPECT_EQ(load()->get(spec.name).from, "file " + root_.at(kHere));
    }
  }
}

TEST_F(SettingsTest, values_of_one_source_replace_those_of_another) {
  root_.write(kUser, "tag = [\"a=1\", \"b=x,y\"]\n");
  EXPECT_EQ(load()->values("tag"), (std::vector<std::string>{"a=1", "b=x,y"}));
  EXPECT_EQ(load()->get("tag").value, "a=1,b=x\\,y");
  variables_["TRAINSCOPE_TAG"] = "c=3\\,4,d=5,";
  auto settings = load();
  EXPECT_EQ(settings->values("tag"), (std::vector<std::string>{"c=3,4", "d=5"}));
  settings->set_from_flag("tag", "e=6,7");
  settings->set_from_flag("tag", "f=8");
  EXPECT_EQ(settings->values("tag"), (std::vector<std::string>{"e=6,7", "f=8"}));
  EXPECT_EQ(settings->get("tag").value, "e=6\\,7,f=8");
}

TEST_F(SettingsTest, a_repeatable_setting_is_a_string_or_an_array) {
  root_.write(kUser, "data = \"/one\"\n");
  EXPECT_EQ(load()->values("data"), (std::vector<std::string>{"/one"}));
  root_.write(kUser, "data = []\n");
  EXPECT_TRUE(load()->values("data").empty());
  root_.write(kUser, "data = [[\"/one\"]]\n");
  EXPECT_THAT(error(), HasSubstr(":1: data: expected a string or an array of strings"));
}

// A SPEC may contain commas; docs/guide/counters.md has the syntax.
TEST_F(SettingsTest, counters_in_the_environment_are_split_by_their_own_grammar) {
  variables_["TRAINSCOPE_COUNTER"] = "a:/x+match=1\\,2,b:/y+";
  EXPECT_EQ(load()->values("counter"), (std::vector<std::string>{"a:/x+match=1\\,2,b:/y+"}));
  EXPECT_EQ(load()->get("counter").value, "a:/x+match=1\\,2,b:/y+");
}

TEST_F(SettingsTest, the_record_of_a_run_has_no_secrets) {
  auto settings = load();
  settings->set_from_flag("tag", "api_key=hush");
  settings->set_from_flag("tag", "lr=1");
  settings->set_from_flag("note", "password=hush");
  settings->set_from_flag("after", "true --token hush");
  for (const Setting& setting : settings->all()) {
    EXPECT_EQ(setting.value.find("hush"), std::string::npos) << setting.name;
    if (setting.name == "tag") {
      EXPECT_EQ(setting.value, "api_key=***,lr=1");
    }
  }
}

TEST_F(SettingsTest, each_member_gets_its_value) {
  variables_["TRAINSCOPE_PERF"] = "1";
  variables_["TRAINSCOPE_TENSORBOARD"] = "/a,b";
  variables_["TRAINSCOPE_STEPS_FROM"] = "(?<step>x)";
  root_.write(kHere, "for = 90\nrepeat = 3\ntag = [\"k=v\"]\n");
  const auto options = recording_options(*load());
  ASSERT_TRUE(options) << options.error().message();
  EXPECT_TRUE(options->perf);
  EXPECT_EQ(options->tensorboard, (std::vector<std::string>{"/a", "b"}));
  EXPECT_EQ(options->steps_from, "(?<step>x)");
  EXPECT_EQ(options->for_ns, 90'000'000'000);
  EXPECT_EQ(options->every_ns, 100'000'000);
  EXPECT_EQ(options->repeat, 3);
  EXPECT_EQ(options->tags, (std::map<std::string, std::string>{{"k", "v"}}));
  EXPECT_EQ(options->settings.size(), setting_specs().size());
}

TEST_F(SettingsTest, a_bad_value_names_its_source) {
  const auto refused = [this](const char* name, const char* value) {
    variables_[name] = value;
    const auto options = recording_options(*load());
    variables_.erase(name);
    return options ? "no error" : options.error().message();
  };
  EXPECT_THAT(refused("TRAINSCOPE_TAG", "novalue"), HasSubstr("TRAINSCOPE_TAG: 'novalue'"));
  EXPECT_THAT(refused("TRAINSCOPE_REPEAT", "0"), HasSubstr("TRAINSCOPE_REPEAT: '0'"));
  EXPECT_THAT(refused("TRAINSCOPE_PERF", "perhaps"), HasSubstr("TRAINSCOPE_PERF: 'perhaps'"));
  EXPECT_THAT(refused("TRAINSCOPE_COUNTER", "x:flot@/y+"), HasSubstr("TRAINSCOPE_COUNTER: "));
  EXPECT_THAT(refused("TRAINSCOPE_STEPS_FROM", "("), HasSubstr("TRAINSCOPE_STEPS_FROM: "));
  EXPECT_THAT(refused("TRAINSCOPE_EVERY", "2h"), HasSubstr("1ms to 1h"));
  EXPECT_THAT(refused("TRAINSCOPE_GRACE", "0s"), "no error");
}

TEST_F(SettingsTest, paths_in_a_file) {
  root_.write(kUser, "home = \"~/runs\"\ndata = [\"~/set\", \"set\"]\nid-file = \"id\"\n");
  EXPECT_EQ(load()->home(), "/home/ann/runs");
  EXPECT_EQ(load()->values("data"), (std::vector<std::string>{"/home/ann/set", "set"}));
  EXPECT_EQ(load()->get("id-file").value, "id");
}

TEST_F(SettingsTest, an_empty_variable_is_unset) {
  root_.write(kHere, "name = \"here\"\n");
  variables_["TRAINSCOPE_NAME"] = "";
  EXPECT_EQ(load()->get("name").value, "here");
}

TEST_F(SettingsTest, a_command_comes_from_the_user_not_from_the_working_directory) {
  root_.write(kUser, "after = \"true\"\n");
  EXPECT_EQ(load()->get("after").value, "true");
  root_.write(kHere, "name = \"x\"\n\nafter = \"rm -rf ~\"\n");
  EXPECT_THAT(error(), HasSubstr(root_.at(kHere) + ":3: 'after' names a command"));
}

// Another user's file could show runs of that user, or copy any file into our runs.
TEST_F(SettingsTest, a_working_directory_names_no_path) {
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

TEST_F(SettingsTest, the_users_own_folder_as_working_directory_is_trusted) {
  root_.write(kUser, "after = \"true\"\n");
  root_.write("/w/x", "");
  std::filesystem::create_symlink("../config/trainscope.toml", root_.at(kHere));
  EXPECT_EQ(load()->get("after").value, "true");
}

TEST_F(SettingsTest, unknown_keys_name_file_line_and_the_nearest) {
  root_.write(kHere, "# mine\nevry = \"1s\"\n");
  EXPECT_EQ(error(), root_.at(kHere) + ":2: unknown setting 'evry'; did you mean 'every'?");
  root_.write(kHere, "steps_from = \"x\"\n");
  EXPECT_THAT(error(), HasSubstr("did you mean 'steps-from'?"));
  root_.write(kHere, "[recorder]\nx = 1\n");
  EXPECT_EQ(error(), root_.at(kHere) + ":1: unknown setting 'recorder'");
}

TEST_F(SettingsTest, syntax_errors_name_file_and_line) {
  root_.write(kUser, "name = \"x\"\nevery = 1s\n");
  EXPECT_THAT(error(), HasSubstr(root_.at(kUser) + ":2: "));
}

TEST_F(SettingsTest, scalars_are_accepted_tables_are_not) {
  root_.write(kHere, "quiet = true\nfor = 90\ngrace = 2.5\n");
  EXPECT_EQ(load()->get("quiet").value, "true");
  EXPECT_EQ(load()->get("for").value, "90");
  EXPECT_EQ(load()->get("grace").value, "2.5");
  root_.write(kHere, "name = [1, 2]\n");
  EXPECT_THAT(error(), HasSubstr(":1: name: expected a string, a number, true or false"));
}

TEST_F(SettingsTest, relative_homes) {
  root_.write(kUser, "home = \"runs\"\n");
  EXPECT_EQ(load()->home(), root_.at("/config/runs"));
  variables_["TRAINSCOPE_HOME"] = "mine";
  EXPECT_EQ(load()->home(), root_.at("/w/mine"));
  variables_["TRAINSCOPE_HOME"] = "/abs";
  EXPECT_EQ(load()->home(), "/abs");
}

TEST_F(SettingsTest, xdg_folders_count_when_absolute) {
  variables_["XDG_DATA_HOME"] = "/data";
  EXPECT_EQ(load()->home(), "/data/trainscope");
  variables_["XDG_DATA_HOME"] = "data";
  EXPECT_EQ(load()->home(), "/home/ann/.local/share/trainscope");
}

TEST_F(SettingsTest, a_fifo_in_place_of_a_file_is_refused_not_waited_for) {
  root_.write("/w/x", "");
  ASSERT_EQ(::mkfifo(root_.at(kHere).c_str(), 0600), 0);
  EXPECT_THAT(error(), HasSubstr("is not a regular file"));
}

TEST_F(SettingsTest, origins) {
  EXPECT_EQ(setting_origin({"every", "x", "flag"}), "--every");
  EXPECT_EQ(setting_origin({"every", "x", "environment"}), "TRAINSCOPE_EVERY");
  EXPECT_EQ(setting_origin({"every", "x", "file /a/b"}), "every in /a/b");
}

}  // namespace settings_test
}  // namespace trainscope
