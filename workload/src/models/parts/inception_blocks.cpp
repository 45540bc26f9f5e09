#include "models/parts/inception_blocks.h"

namespace trainscope::workload {
namespace {

namespace nn = torch::nn;

template <std::size_t kCount>
torch::Tensor through(std::array<BasicConv, kCount>& chain, torch::Tensor x) {
  for (BasicConv& conv : chain) x = conv(x);
  return x;
}

// Padded so that the size stays.
Window same(std::int64_t in, std::int64_t out, std::int64_t rows, std::int64_t columns) {
  return {in, out, rows, columns, 1, rows / 2, columns / 2};
}

torch::Tensor smooth(const torch::Tensor& x) { return torch::avg_pool2d(x, 3, 1, 1); }

}  // namespace

BasicConvImpl::BasicConvImpl(const Window& window)
    : conv_(register_module(
          "conv",
          nn::Conv2d(nn::Conv2dOptions(window.in, window.out, {window.rows, window.columns})
                         .stride(window.stride)
                         .padding(torch::ExpandingArray<2>({window.pad_rows, window.pad_columns}))
                         .bias(false)))),
      bn_(register_module("bn", batch_norm(window.out, 1e-3))) {}

torch::Tensor BasicConvImpl::forward(const torch::Tensor& x) { return bn_(conv_(x)).relu_(); }

InceptionAImpl::InceptionAImpl(std::int64_t in, std::int64_t pool)
    : one_(register_module("branch1x1", BasicConv(Window{in, 64}))),
      five_{register_module("branch5x5_1", BasicConv(Window{in, 48})),
            register_module("branch5x5_2", BasicConv(same(48, 64, 5, 5)))},
      three_{register_module("branch3x3dbl_1", BasicConv(Window{in, 64})),
             register_module("branch3x3dbl_2", BasicConv(same(64, 96, 3, 3))),
             register_module("branch3x3dbl_3", BasicConv(same(96, 96, 3, 3)))},
      pool_(register_module("branch_pool", BasicConv(Window{in, pool}))) {}

torch::Tensor InceptionAImpl::forward(const torch::Tensor& x) {
  return torch::cat({one_(x), through(five_, x), through(three_, x), pool_(smooth(x))}, 1);
}

InceptionBImpl::InceptionBImpl(std::int64_t in)
    : three_(register_module("branch3x3", BasicConv(Window{in, 384, 3, 3, 2}))),
      twice_{register_module("branch3x3dbl_1", BasicConv(Window{in, 64})),
             register_module("branch3x3dbl_2", BasicConv(same(64, 96, 3, 3))),
             register_module("branch3x3dbl_3", BasicConv(Window{96, 96, 3, 3, 2}))} {}

torch::Tensor InceptionBImpl::forward(const torch::Tensor& x) {
  return torch::cat({three_(x), through(twice_, x), torch::max_pool2d(x, 3, 2)}, 1);
}

InceptionCImpl::InceptionCImpl(std::int64_t in, std::int64_t width)
    : one_(register_module("branch1x1", BasicConv(Window{in, 192}))),
      seven_{register_module("branch7x7_1", BasicConv(Window{in, width})),
             register_module("branch7x7_2", BasicConv(same(width, width, 1, 7))),
             register_module("branch7x7_3", BasicConv(same(width, 192, 7, 1)))},
      twice_{register_module("branch7x7dbl_1", BasicConv(Window{in, width})),
             register_module("branch7x7dbl_2", BasicConv(same(width, width, 7, 1))),
             register_module("branch7x7dbl_3", BasicConv(same(width, width, 1, 7))),
             register_module("branch7x7dbl_4", BasicConv(same(width, width, 7, 1))),
             register_module("branch7x7dbl_5", BasicConv(same(width, 192, 1, 7)))},
      pool_(register_module("branch_pool", BasicConv(Window{in, 192}))) {}

torch::Tensor InceptionCImpl::forward(const torch::Tensor& x) {
  return torch::cat({one_(x), through(seven_, x), through(twice_, x), pool_(smooth(x))}, 1);
}

InceptionDImpl::InceptionDImpl(std::int64_t in)
    : three_{register_module("branch3x3_1", BasicConv(Window{in, 192})),
             register_module("branch3x3_2", BasicConv(Window{192, 320, 3, 3, 2}))},
      seven_{register_module("branch7x7x3_1", BasicConv(Window{in, 192})),
             register_module("branch7x7x3_2", BasicConv(same(192, 192, 1, 7))),
             register_module("branch7x7x3_3", BasicConv(same(192, 192, 7, 1))),
             register_module("branch7x7x3_4", BasicConv(Window{192, 192, 3, 3, 2}))} {}

torch::Tensor InceptionDImpl::forward(const torch::Tensor& x) {
  return torch::cat({through(three_, x), through(seven_, x), torch::max_pool2d(x, 3, 2)}, 1);
}

InceptionEImpl::InceptionEImpl(std::int64_t in)
    : one_(register_module("branch1x1", BasicConv(Window{in, 320}))),
      three_{register_module("branch3x3_1", BasicConv(Window{in, 384})),
             register_module("branch3x3_2a", BasicConv(same(384, 384, 1, 3))),
             register_module("branch3x3_2b", BasicConv(same(384, 384, 3, 1)))},
      twice_{register_module("branch3x3dbl_1", BasicConv(Window{in, 448})),
             register_module("branch3x3dbl_2", BasicConv(same(448, 384, 3, 3))),
             register_module("branch3x3dbl_3a", BasicConv(same(384, 384, 1, 3))),
             register_module("branch3x3dbl_3b", BasicConv(same(384, 384, 3, 1)))},
      pool_(register_module("branch_pool", BasicConv(Window{in, 192}))) {}

torch::Tensor InceptionEImpl::forward(const torch::Tensor& x) {
  const torch::Tensor three = three_[0](x);
  const torch::Tensor twice = twice_[1](twice_[0](x));
  return torch::cat({one_(x), three_[1](three), three_[2](three), twice_[2](twice),
                     twice_[3](twice), pool_(smooth(x))},
                    1);
}

}  // namespace trainscope::workload
