// MobileNetV2 and VGG-16 as torchvision builds them, and a U-Net of four levels, whose answer is the mean
// over all pixels: what memory a step takes does not depend on the loss.
#include "models/net.h"

namespace plimsoll::models {
namespace {

Tensor conv_norm(Net& net, const Tensor& x, const Conv& c) { return net.batch_norm(net.conv2d(x, c), 1e-5); }

Tensor inverted_residual(Net& net, const Tensor& x, int64_t expand, int64_t filters, int64_t stride) {
  const int64_t width = expand * x.dim(-1);
  Tensor y = x;
  if (expand != 1) y = relu6(conv_norm(net, y, {.filters = width, .size = 1, .bias = false}));
  y = relu6(
      conv_norm(net, y, {.filters = width, .stride = stride, .groups = width, .same = true, .bias = false}));
  y = conv_norm(net, y, {.filters = filters, .size = 1, .bias = false});
  return stride == 1 && x.dim(-1) == filters ? x + y : y;
}

Tensor two_convs(Net& net, const Tensor& x, int64_t filters) {
  const Conv c{.filters = filters, .same = true, .bias = false};
  return relu(conv_norm(net, relu(conv_norm(net, x, c)), c));
}

// Each pixel becomes four.
Tensor doubled(const Tensor& x) {
  const int64_t n = x.dim(0), h = x.dim(1), w = x.dim(2), c = x.dim(3);
  const Tensor wide = broadcast_to(reshape(x, {n, h, 1, w, 1, c}), {n, h, 2, w, 2, c});
  return reshape(wide, {n, 2 * h, 2 * w, c});
}

}  // namespace

Tensor mobilenet_v2(Net& net, const Tensor& x) {
  Tensor y = relu6(conv_norm(net, x, {.filters = 32, .stride = 2, .same = true, .bias = false}));
  const struct {
    int64_t expand, filters, blocks, stride;
  } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (const auto& s : stages) {
    for (int64_t i = 0; i < s.blocks; ++i)
      y = inverted_residual(net, y, s.expand, s.filters, i == 0 ? s.stride : 1);
  }
  y = relu6(conv_norm(net, y, {.filters = 1280, .size = 1, .bias = false}));
  return net.dense(net.dropout(mean(y, {1, 2}), 0.2), 10);
}

Tensor unet(Net& net, const Tensor& x) {
  std::vector<Tensor> levels;
  Tensor y = x;
  for (const int64_t filters : {64, 128, 256, 512}) {
    levels.push_back(two_convs(net, y, filters));
    y = net.max_pool2d(levels.back());
  }
  y = two_convs(net, y, 1024);
  for (; !levels.empty(); levels.pop_back()) {
    const int64_t filters = levels.back().dim(-1);
    const Tensor up = net.conv2d(doubled(y), {.filters = filters, .same = true, .bias = false});
    const Tensor both[] = {levels.back(), up};
    y = two_convs(net, concatenate(both, 3), filters);
  }
  return mean(net.conv2d(y, {.filters = 10, .size = 1}), {1, 2});
}

Tensor vgg16(Net& net, const Tensor& x) {
  Tensor y = x;
  const struct { int64_t filters, convs; } stages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
  for (const auto& s : stages) {
    for (int64_t i = 0; i < s.convs; ++i)
      y = net.conv2d(y, {.filters = s.filters, .same = true, .activation = "relu"});
    y = net.max_pool2d(y);
  }
  y = net.dropout(net.dense(net.flatten(y), 4096, "relu"), 0.5);
  return net.dense(net.dropout(net.dense(y, 4096, "relu"), 0.5), 10);
}

}  // namespace plimsoll::models
