// inception_v3: Szegedy et al. 2015, with the auxiliary exit while it learns, as torchvision builds
// it.
#include <torch/nn/modules/dropout.h>

#include "models/model.h"
#include "models/parts/inception_blocks.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

// Rows that the auxiliary classifier needs: images below 299 pixels are trained without it.
constexpr std::int64_t kAuxiliaryMap = 17;

// The auxiliary classifier in the middle keeps the gradients of the lower half alive.
class AuxiliaryExitImpl : public nn::Module {
 public:
  AuxiliaryExitImpl(std::int64_t in, std::int64_t classes)
      : conv0_(register_module("conv0", BasicConv(Window{in, 128}))),
        conv1_(register_module("conv1", BasicConv(Window{128, 768, 5, 5}))),
        fc_(register_module("fc", nn::Linear(768, classes))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor pooled = torch::avg_pool2d(x, 5, 3);
    return fc_(mean_over_positions(conv1_(conv0_(pooled))));
  }

 private:
  BasicConv conv0_;
  BasicConv conv1_;
  nn::Linear fc_;
};
TORCH_MODULE(AuxiliaryExit);

class InceptionV3 : public Network {
 public:
  explicit InceptionV3(const NetworkShape& shape)
      : classes_(shape.classes),
        stem_{
            register_module("Conv2d_1a_3x3", BasicConv(Window{shape.image.channels, 32, 3, 3, 2})),
            register_module("Conv2d_2a_3x3", BasicConv(Window{32, 32, 3, 3})),
            register_module("Conv2d_2b_3x3", BasicConv(Window{32, 64, 3, 3, 1, 1, 1})),
            register_module("Conv2d_3b_1x1", BasicConv(Window{64, 80})),
            register_module("Conv2d_4a_3x3", BasicConv(Window{80, 192, 3, 3}))},
        mixed_5b_(register_module("Mixed_5b", InceptionA(192, 32))),
        mixed_5c_(register_module("Mixed_5c", InceptionA(256, 64))),
        mixed_5d_(register_module("Mixed_5d", InceptionA(288, 64))),
        mixed_6a_(register_module("Mixed_6a", InceptionB(288))),
        mixed_6b_(register_module("Mixed_6b", InceptionC(768, 128))),
        mixed_6c_(register_module("Mixed_6c", InceptionC(768, 160))),
        mixed_6d_(register_module("Mixed_6d", InceptionC(768, 160))),
        mixed_6e_(register_module("Mixed_6e", InceptionC(768, 192))),
        auxiliary_(register_module("AuxLogits", AuxiliaryExit(768, classes_))),
        mixed_7a_(register_module("Mixed_7a", InceptionD(768))),
        mixed_7b_(register_module("Mixed_7b", InceptionE(1280))),
        mixed_7c_(register_module("Mixed_7c", InceptionE(2048))),
        dropout_(register_module("dropout", nn::Dropout(0.5))),
        fc_(register_module("fc", nn::Linear(2048, classes_))) {
    begin_weights(*this);
  }

  torch::Tensor features(const torch::Tensor& images) override {
    return upper_half(lower_half(images));
  }
  torch::Tensor classify(const torch::Tensor& features) override { return fc_(dropout_(features)); }
  Scores forward(const torch::Tensor& images) override {
    const torch::Tensor middle = lower_half(images);
    Scores scores;
    if (is_training() && middle.size(2) >= kAuxiliaryMap) scores.auxiliary = auxiliary_(middle);
    scores.main = classify(upper_half(middle));
    return scores;
  }

 private:
  torch::Tensor lower_half(const torch::Tensor& images) {
    torch::Tensor x = stem_[2](stem_[1](stem_[0](images)));
    x = torch::max_pool2d(x, 3, 2);
    x = stem_[4](stem_[3](x));
    x = torch::max_pool2d(x, 3, 2);
    x = mixed_5d_(mixed_5c_(mixed_5b_(x)));
    x = mixed_6c_(mixed_6b_(mixed_6a_(x)));
    return mixed_6e_(mixed_6d_(x));
  }
  torch::Tensor upper_half(const torch::Tensor& middle) {
    return mean_over_positions(mixed_7c_(mixed_7b_(mixed_7a_(middle))));
  }

  std::int64_t classes_;
  std::array<BasicConv, 5> stem_;
  InceptionA mixed_5b_;
  InceptionA mixed_5c_;
  InceptionA mixed_5d_;
  InceptionB mixed_6a_;
  InceptionC mixed_6b_;
  InceptionC mixed_6c_;
  InceptionC mixed_6d_;
  InceptionC mixed_6e_;
  AuxiliaryExit auxiliary_;
  InceptionD mixed_7a_;
  InceptionE mixed_7b_;
  InceptionE mixed_7c_;
  nn::Dropout dropout_;
  nn::Linear fc_;
};

}  // namespace

extern const Model inception_v3_model;
const Model inception_v3_model{
    .name = "inception_v3",
    .summary = "Inception v3",
    .side = 299,
    .smallest_side = 75,
    .parameters = 27161264,
    .make = [](const NetworkShape& shape) -> std::shared_ptr<Network> {
      return std::make_shared<InceptionV3>(shape);
    },
};

}  // namespace trainscope::workload
