// Our fused optimizers against torch.optim's own, step by step, and what an overflow leaves alone.
#include "train/optimizer.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include "test_folder.h"
#include "train/mixed_precision.h"

namespace trainscope::workload {
namespace {

constexpr double kRate = 0.05;

class TwoLayers : public Network {
 public:
  TwoLayers() {
    first = register_module("first", torch::nn::Linear(6, 5));
    second = register_module("second", torch::nn::Linear(5, 3));
  }
  torch::Tensor features(const torch::Tensor& images) override {
    return torch::relu(first(images));
  }
  torch::Tensor classify(const torch::Tensor& features) override { return second(features); }

  torch::nn::Linear first{nullptr}, second{nullptr};
};

std::shared_ptr<TwoLayers> same_each_time() {
  torch::manual_seed(3);
  return std::make_shared<TwoLayers>();
}

void slope(TwoLayers& network, int step) {
  torch::manual_seed(static_cast<std::uint64_t>(100 + step));
  const torch::Tensor scores = network.forward(torch::randn({4, 6})).main;
  scores.pow(2).mean().backward();
}

void expect_same(const TwoLayers& ours, const TwoLayers& theirs, int step) {
  const auto a = ours.parameters();
  const auto b = theirs.parameters();
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(torch::allclose(a[i], b[i], 1e-5, 1e-7)) << "parameter " << i << " step " << step;
  }
}

std::unique_ptr<torch::optim::Optimizer> reference(OptimizerKind kind, const TwoLayers& network) {
  if (kind == OptimizerKind::kSgd) {
    return std::make_unique<torch::optim::SGD>(network.parameters(),
                                               torch::optim::SGDOptions(kRate).momentum(0.9));
  }
  return std::make_unique<torch::optim::Adam>(network.parameters(),
                                              torch::optim::AdamOptions(kRate));
}

class OptimizerOfKind : public testing::TestWithParam<OptimizerKind> {};

TEST_P(OptimizerOfKind, takes_the_steps_of_torch_optim) {
  const auto ours = same_each_time();
  const auto theirs = same_each_time();
  Optimizer optimizer(GetParam(), kRate, *ours);
  const auto expected = reference(GetParam(), *theirs);
  for (int step = 0; step < 5; ++step) {
    optimizer.zero_grad();
    slope(*ours, step);
    optimizer.step();
    expected->zero_grad();
    slope(*theirs, step);
    expected->step();
    expect_same(*ours, *theirs, step);
  }
}

TEST_P(OptimizerOfKind, leaves_a_parameter_without_a_gradient_alone) {
  const auto network = same_each_time();
  const auto before = same_each_time();
  Optimizer optimizer(GetParam(), kRate, *network);
  network->first(torch::ones({1, 6})).sum().backward();  // the second layer takes no part
  optimizer.step();
  EXPECT_FALSE(torch::equal(network->parameters()[0], before->parameters()[0]));
  EXPECT_TRUE(torch::equal(network->parameters()[2], before->parameters()[2]));
  EXPECT_TRUE(torch::equal(network->parameters()[3], before->parameters()[3]));
}

TEST_P(OptimizerOfKind, goes_on_from_its_state) {
  const TestFolder folder;
  const auto whole = same_each_time();
  Optimizer optimizer(GetParam(), kRate, *whole);
  TensorBundle bundle;
  const auto stopped = same_each_time();
  for (int step = 0; step < 6; ++step) {
    if (step == 3) {
      optimizer.add_state(bundle);
      ASSERT_TRUE(bundle.write(folder.path() / "state"));
      const torch::NoGradGuard no_gradients;
      for (std::size_t i = 0; i < stopped->parameters().size(); ++i) {
        stopped->parameters()[i].copy_(whole->parameters()[i]);
      }
    }
    optimizer.zero_grad();
    slope(*whole, step);
    optimizer.step();
  }
  const Result<TensorFile> content = read_safetensors(folder.path() / "state");
  ASSERT_TRUE(content);
  Optimizer resumed(GetParam(), kRate, *stopped);
  ASSERT_TRUE(resumed.load_state(content.value()));
  for (int step = 3; step < 6; ++step) {
    resumed.zero_grad();
    slope(*stopped, step);
    resumed.step();
  }
  for (std::size_t i = 0; i < whole->parameters().size(); ++i) {
    EXPECT_TRUE(torch::equal(whole->parameters()[i], stopped->parameters()[i])) << i;
  }
}

TEST_P(OptimizerOfKind, an_overflow_changes_nothing) {
  const auto network = same_each_time();
  const auto before = same_each_time();
  Optimizer optimizer(GetParam(), kRate, *network);
  LossScale scale(torch::kCPU, Precision::kFloat16);
  const auto step = [&](double factor) {
    optimizer.zero_grad();
    scale.scaled(network->forward(torch::ones({1, 6})).main.sum() * factor).backward();
    optimizer.step(scale.unscale(optimizer));
  };
  step(std::numeric_limits<double>::infinity());
  expect_same(*network, *before, 0);
  step(1.0);
  EXPECT_FALSE(torch::allclose(network->parameters()[3], before->parameters()[3]));
  // The step that did not count left no trace: this one is the first.
  const auto expected = reference(GetParam(), *before);
  expected->zero_grad();
  before->forward(torch::ones({1, 6})).main.sum().backward();
  expected->step();
  expect_same(*network, *before, 1);
}

INSTANTIATE_TEST_SUITE_P(Both, OptimizerOfKind,
                         testing::Values(OptimizerKind::kAdam, OptimizerKind::kSgd),
                         [](const auto& info) {
                           return std::string(info.param == OptimizerKind::kAdam ? "adam" : "sgd");
                         });

}  // namespace
}  // namespace trainscope::workload
