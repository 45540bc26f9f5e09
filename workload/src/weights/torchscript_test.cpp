// A written program, loaded again without the network's code, must give the network's scores.
#include "weights/torchscript.h"

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/utils.h>

#include "errors.h"
#include "models/model.h"
#include "test_folder.h"

namespace trainscope::workload {
namespace {

void expect_same_scores(const char* name, std::uint32_t channels, std::uint32_t side) {
  const TestFolder folder;
  torch::manual_seed(1);
  const auto made = make_network(*find_model(name), {{channels, side, side}, 10});
  ASSERT_TRUE(made) << name;
  Network& network = *made.value();
  const std::string file = (folder.path() / "network.pt").string();
  ASSERT_TRUE(write_torchscript(file, network, torch::randn({2, channels, side, side}),
                                {name, {"a", "b"}}));
  torch::jit::Module program = torch::jit::load(file);
  const torch::NoGradGuard no_gradients;
  network.eval();
  const torch::Tensor images = torch::randn({3, channels, side, side});  // another batch
  const torch::Tensor expected = network.forward(images).main;
  const torch::Tensor got = program.forward({images}).toTensor();
  EXPECT_TRUE(torch::allclose(got, expected, 1e-4, 1e-5)) << name;
  EXPECT_EQ(program.named_parameters(false).size(), network.named_parameters().size()) << name;
}

TEST(TorchScript, gives_the_scores_of_the_network) {
  expect_same_scores("digits_dense", 1, 28);
  expect_same_scores("digits_cnn", 1, 28);
  expect_same_scores("mobilenet_v2", 3, 64);
  expect_same_scores("inception_v3", 3, 96);
}

TEST(TorchScript, gives_its_weights_back) {
  const TestFolder folder;
  const Model& model = *find_model("digits_cnn");
  const auto made = make_network(model, {{1, 28, 28}, 10});
  const std::string file = (folder.path() / "network.pt").string();
  ASSERT_TRUE(write_torchscript(file, *made.value(), torch::randn({1, 1, 28, 28}),
                                {"digits_cnn", {"zero", "one"}}));
  const auto bundle = read_torchscript(file);
  ASSERT_TRUE(bundle) << bundle.error().message();
  const WeightsNote note = read_note(bundle->content());
  EXPECT_EQ(note.model, "digits_cnn");
  EXPECT_EQ(note.class_names, (std::vector<std::string>{"zero", "one"}));
  const auto other = make_network(model, {{1, 28, 28}, 10});
  ASSERT_TRUE(load_network(*other.value(), bundle->content(), file));
  const torch::NoGradGuard no_gradients;
  made.value()->eval();
  other.value()->eval();
  const torch::Tensor images = torch::randn({3, 1, 28, 28});
  EXPECT_TRUE(
      torch::equal(made.value()->forward(images).main, other.value()->forward(images).main));
}

TEST(TorchScript, another_file_is_bad_input) {
  const auto bundle = read_torchscript("/dev/null");
  ASSERT_FALSE(bundle);
  EXPECT_FALSE(is_run_failure(bundle.error()));
  EXPECT_NE(bundle.error().message().find("/dev/null"), std::string::npos);
}

TEST(TorchScript, says_which_file_cannot_be_written) {
  const auto made = make_network(*find_model("digits_dense"), {{1, 28, 28}, 10});
  const Status written =
      write_torchscript("/nowhere/network.pt", *made.value(), torch::randn({1, 1, 28, 28}), {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("/nowhere/network.pt"), std::string::npos);
}

}  // namespace
}  // namespace trainscope::workload
