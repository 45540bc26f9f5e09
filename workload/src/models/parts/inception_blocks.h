// The five kinds of blocks that Inception v3 is made of, with torchvision's names: branches side by
// side, their results joined channel by channel.
#pragma once

#include <array>

#include "models/parts/layers.h"

namespace trainscope::workload {

struct Window {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t stride = 1;
  std::int64_t pad_rows = 0;
  std::int64_t pad_columns = 0;
};

class BasicConvImpl : public torch::nn::Module {
 public:
  explicit BasicConvImpl(const Window& window);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d bn_;
};
TORCH_MODULE(BasicConv);

// Three scales and a pool at the same size.
class InceptionAImpl : public torch::nn::Module {
 public:
  InceptionAImpl(std::int64_t in, std::int64_t pool);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  BasicConv one_;
  std::array<BasicConv, 2> five_;
  std::array<BasicConv, 3> three_;
  BasicConv pool_;
};
TORCH_MODULE(InceptionA);

// Halves the size.
class InceptionBImpl : public torch::nn::Module {
 public:
  explicit InceptionBImpl(std::int64_t in);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  BasicConv three_;
  std::array<BasicConv, 3> twice_;
};
TORCH_MODULE(InceptionB);

// Seven by seven as seven by one after one by seven.
class InceptionCImpl : public torch::nn::Module {
 public:
  InceptionCImpl(std::int64_t in, std::int64_t width);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  BasicConv one_;
  std::array<BasicConv, 3> seven_;
  std::array<BasicConv, 5> twice_;
  BasicConv pool_;
};
TORCH_MODULE(InceptionC);

// Halves the size.
class InceptionDImpl : public torch::nn::Module {
 public:
  explicit InceptionDImpl(std::int64_t in);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::array<BasicConv, 2> three_;
  std::array<BasicConv, 4> seven_;
};
TORCH_MODULE(InceptionD);

// Branches that part into rows and columns.
class InceptionEImpl : public torch::nn::Module {
 public:
  explicit InceptionEImpl(std::int64_t in);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  BasicConv one_;
  std::array<BasicConv, 3> three_;
  std::array<BasicConv, 4> twice_;
  BasicConv pool_;
};
TORCH_MODULE(InceptionE);

}  // namespace trainscope::workload
