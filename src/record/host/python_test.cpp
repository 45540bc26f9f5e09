#include "record/host/python.h"

#include <gtest/gtest.h>

#include "record/host/inventory.h"
#include "record/host/test_environment.h"
#include "testing/test_root.h"

namespace trainscope {
namespace python_test {

class PythonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYENV_VERSION", "HOME"}) {
      environment_.set(name, nullptr);
    }
    environment_.set("PATH", "/usr/bin:/bin");
    root_.write("/usr/bin/python3.11",
                "\x7f"
                "ELF");
    link("python3.11", "/usr/bin/python3");
    package("/usr/lib/python3/dist-packages", "numpy-1.24.2.egg-info");
    // Another version's packages are not this one's.
    package("/usr/lib/python3.9/site-packages", "torch-1.9.0.dist-info");
  }
  void link(const std::string& target, const std::string& path) const {
    std::filesystem::create_directories(std::filesystem::path(root_.at(path)).parent_path());
    std::filesystem::create_symlink(target, root_.at(path));
  }
  void package(const std::string& folder, const std::string& name) const {
    root_.write(folder + "/" + name + "/METADATA", "");
  }
  void virtual_environment(const std::string& system = "false") const {
    root_.write("/v/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = " + system +
                                     "\nversion = 3.11.2\n");
    link("../../usr/bin/python3", "/v/bin/python");
    package("/v/lib/python3.11/site-packages", "torch-2.1.0+cu121.dist-info");
    package("/v/lib/python3.11/site-packages", "nvidia_cudnn_cu12-8.9.2.dist-info");
    package("/v/lib/python3.11/site-packages", "nvidia_dali_cuda120-1.30.0.dist-info");
  }
  OrderedJson look(const std::vector<std::string>& command,
                   const std::string& folder = "/w") const {
    return software(root_.path(), folder, command);
  }

  TestRoot root_;
  TestEnvironment environment_;
};

TEST_F(PythonTest, of_the_system) {
  const OrderedJson found = look({"python3", "train.py"});
  EXPECT_EQ(found["python"]["executable"], "/usr/bin/python3");
  EXPECT_EQ(found["python"]["version"], "3.11");
  EXPECT_EQ(found["packages"]["numpy"], "1.24.2");
  EXPECT_TRUE(found["packages"]["torch"].is_null());
}

TEST_F(PythonTest, of_a_virtual_environment_before_its_link_is_followed) {
  virtual_environment();
  const OrderedJson found = look({"/v/bin/python", "-m", "x"});
  EXPECT_EQ(found["python"]["prefix"], "/v");
  EXPECT_EQ(found["python"]["version"], "3.11.2");
  EXPECT_EQ(found["packages"]["torch"], "2.1.0+cu121");
  EXPECT_EQ(found["packages"]["nvidia-cudnn-cu12"], "8.9.2");
  EXPECT_EQ(found["packages"]["nvidia-dali-cuda120"], "1.30.0");
  EXPECT_TRUE(found["packages"]["numpy"].is_null());
  EXPECT_EQ(found["cuda"]["version"], "12.1");
}

TEST_F(PythonTest, of_a_virtual_environment_that_sees_the_system) {
  virtual_environment("true");
  EXPECT_EQ(look({"/v/bin/python"})["packages"]["numpy"], "1.24.2");
}

TEST_F(PythonTest, of_a_script_by_its_first_line) {
  virtual_environment();
  root_.write("/v/bin/torchrun", "#!/v/bin/python\nimport sys\n");
  EXPECT_EQ(look({"/v/bin/torchrun", "t.py"})["python"]["prefix"], "/v");
  root_.write("/w/t.py", "#!/usr/bin/env -S python3 -u\n");
  EXPECT_EQ(look({"./t.py"})["python"]["executable"], "/usr/bin/python3");
  root_.write("/w/long", "#!/bin/sh\n'''exec' \"/v/bin/python\" \"$0\" \"$@\"\n");
  EXPECT_EQ(look({"/w/long"})["python"]["prefix"], "/v");
}

TEST_F(PythonTest, behind_another_program) {
  root_.write("/usr/bin/nice",
              "\x7f"
              "ELF");
  EXPECT_EQ(look({"nice", "-n", "5", "python3", "t.py"})["python"]["version"], "3.11");
}

TEST_F(PythonTest, of_the_active_environment_when_the_command_says_nothing) {
  virtual_environment();
  root_.write("/bin/bash",
              "\x7f"
              "ELF");
  EXPECT_TRUE(look({"bash", "train.sh"})["python"].is_null());
  environment_.set("VIRTUAL_ENV", "/v");
  EXPECT_EQ(look({"bash", "train.sh"})["packages"]["torch"], "2.1.0+cu121");
}

TEST_F(PythonTest, behind_a_pyenv_shim) {
  root_.write("/p/shims/python3", "#!/usr/bin/env bash\n");
  root_.write("/p/versions/3.12.1/bin/python3",
              "\x7f"
              "ELF");
  root_.write("/p/version", "3.12.1\n");
  package("/p/versions/3.12.1/lib/python3.12/site-packages", "jax-0.4.30.dist-info");
  EXPECT_EQ(look({"/p/shims/python3"})["packages"]["jax"], "0.4.30");
}

TEST_F(PythonTest, links_that_go_in_circles_end) {
  link("b", "/w/a");
  link("a", "/w/b");
  EXPECT_TRUE(look({"/w/a"})["python"].is_null());
}

TEST_F(PythonTest, cuda_of_the_machine) {
  root_.write("/usr/local/cuda/version.json", R"({"cuda": {"version": "12.2.2"}})");
  EXPECT_EQ(look({"x"})["cuda"]["version"], "12.2.2");
  root_.write("/usr/local/cuda/version.json", "{broken");
  EXPECT_TRUE(look({"x"})["cuda"].is_null());
  root_.write("/usr/local/cuda/lib64/libcudart.so.11.8.89", "");
  EXPECT_EQ(look({"x"})["cuda"]["version"], "11.8.89");
}

}  // namespace python_test
}  // namespace trainscope
