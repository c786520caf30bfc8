// ResNet-50 as torchvision builds it (v1.5: the stride sits in the 3x3 convolution, no convolution has a
// bias), which is a little more work than Keras's own.
#include "models/net.h"

namespace plimsoll::models {
namespace {

constexpr double kEpsilon = 1e-5;

Tensor conv_norm(Net& net, const Tensor& x, int64_t filters, int64_t size, int64_t stride) {
  return net.batch_norm(
      net.conv2d(x, {.filters = filters, .size = size, .stride = stride, .same = true, .bias = false}),
      kEpsilon);
}

Tensor bottleneck(Net& net, const Tensor& x, int64_t filters, int64_t stride) {
  Tensor y = relu(conv_norm(net, x, filters, 1, 1));
  y = relu(conv_norm(net, y, filters, 3, stride));
  y = conv_norm(net, y, 4 * filters, 1, 1);
  const bool project = stride != 1 || x.dim(-1) != 4 * filters;
  return relu(y + (project ? conv_norm(net, x, 4 * filters, 1, stride) : x));
}

}  // namespace

Tensor resnet50(Net& net, const Tensor& x) {
  Tensor y = net.max_pool2d(relu(conv_norm(net, x, 64, 7, 2)), 3, 2, 1);
  const struct { int64_t filters, blocks; } stages[] = {{64, 3}, {128, 4}, {256, 6}, {512, 3}};
  for (const auto& stage : stages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      y = bottleneck(net, y, stage.filters, i == 0 && stage.filters != 64 ? 2 : 1);
    }
  }
  return net.dense(mean(y, {1, 2}), 10);
}

}  // namespace plimsoll::models
