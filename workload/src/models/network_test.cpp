// The networks against their reference parameter counts, and what they make of images.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "models/model.h"
#include "test_folder.h"
#include "weights/weights.h"

namespace trainscope::workload {
namespace {

// Of torchvision 0.2x for those that it has; He et al. for ResNet-20; the file that
// scripts/fetch-weights converts for EfficientNet-Lite0; layers counted by hand for the digits.
struct Reference {
  const char* name;
  std::int64_t parameters;
};
constexpr Reference kReferences[] = {
    {"digits_dense", 784 * 128 + 128 + 128 * 10 + 10},
    {"digits_cnn", 9 * 16 + 16 + 9 * 16 * 32 + 32 + 32 * 49 * 128 + 128 + 1290},
    {"cifar_resnet20", 269722},
    {"resnet50", 25557032},
    {"inception_v3", 27161264},
    {"mobilenet_v2", 3504872},
    {"efficientnet_b0", 5288548},
    {"efficientnet_lite0", 4652008},
};

NetworkShape own_shape(const Model& model) {
  return {{model.channels, model.side, model.side}, model.classes};
}

TEST(Network, parameter_counts_are_the_references) {
  EXPECT_EQ(all_models().size(), std::size(kReferences));
  for (const Reference& reference : kReferences) {
    const Model* model = find_model(reference.name);
    ASSERT_NE(model, nullptr) << reference.name;
    EXPECT_EQ(model->parameters, reference.parameters) << reference.name;
    const auto network = make_network(*model, own_shape(*model));
    ASSERT_TRUE(network);
    EXPECT_EQ(count_parameters(*network.value()), reference.parameters) << reference.name;
  }
}

TEST(Network, inception_has_its_known_size_without_the_second_exit) {
  const Model* model = find_model("inception_v3");
  const auto network = make_network(*model, own_shape(*model));
  std::int64_t count = 0;
  for (const auto& item : network.value()->named_parameters()) {
    if (!item.key().starts_with("AuxLogits.")) count += item.value().numel();
  }
  EXPECT_EQ(count, 23834568);
}

TEST(Network, two_images_give_two_rows_of_scores_and_gradients_everywhere) {
  at::set_num_threads(1);  // a second one that waits for a busy machine takes ten times as long
  torch::manual_seed(1);
  for (const Model* model : all_models()) {
    // Inception's auxiliary classifier needs the whole side.
    const std::uint32_t side =
        model->name == "inception_v3" ? model->side : std::min(model->side, 64U);
    const NetworkShape shape{{model->channels, side, side}, 5};
    const auto network = make_network(*model, shape);
    ASSERT_TRUE(network) << model->name;
    network.value()->train();
    const torch::Tensor images = torch::randn({2, model->channels, side, side});
    const Scores scores = network.value()->forward(images);
    EXPECT_EQ(scores.main.sizes(), (std::vector<std::int64_t>{2, 5})) << model->name;
    torch::Tensor sum = scores.main.sum();
    if (scores.auxiliary.defined()) sum = sum + scores.auxiliary.sum();
    sum.backward();
    for (const auto& item : network.value()->named_parameters()) {
      EXPECT_TRUE(item.value().grad().defined()) << model->name << " " << item.key();
    }
    network.value()->eval();
    const torch::NoGradGuard no_gradients;
    const torch::Tensor features = network.value()->features(images);
    EXPECT_EQ(features.dim(), 2) << model->name;
    EXPECT_TRUE(
        torch::allclose(network.value()->classify(features), network.value()->forward(images).main))
        << model->name;
  }
}

TEST(Network, too_small_images_are_a_fault) {
  const Model* model = find_model("inception_v3");
  EXPECT_FALSE(make_network(*model, {{3, 32, 32}, 10}));
}

TEST(Weights, come_back_bit_for_bit_and_must_fit) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "w.safetensors";
  const Model* model = find_model("cifar_resnet20");
  const auto first = make_network(*model, own_shape(*model)).value();
  const auto second = make_network(*model, own_shape(*model)).value();
  ASSERT_TRUE(write_weights(file, *first, {"cifar_resnet20", {"a", "b\nc"}}));
  const Result<TensorFile> content = read_safetensors(file);
  ASSERT_TRUE(content);
  const WeightsNote note = read_note(content.value());
  EXPECT_EQ(note.model, "cifar_resnet20");
  EXPECT_EQ(note.class_names, (std::vector<std::string>{"a", "b c"}));
  ASSERT_TRUE(load_network(*second, content.value(), "w"));
  for (std::size_t i = 0; i < first->parameters().size(); ++i) {
    EXPECT_TRUE(torch::equal(first->parameters()[i], second->parameters()[i]));
  }
  const auto other = make_network(*model, {{3, 32, 32}, 7}).value();
  const Status wrong = load_network(*other, content.value(), "w");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("linear.weight"), std::string::npos);
  const auto digits = make_network(*find_model("digits_dense"), {{1, 28, 28}, 10}).value();
  EXPECT_FALSE(load_network(*digits, content.value(), "w"));
}

}  // namespace
}  // namespace trainscope::workload
