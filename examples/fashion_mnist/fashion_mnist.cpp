#include "fashion_mnist.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

#include "models/models.h"
#include "plimsoll/program.h"
#include "support/fill.h"
#include "support/npz.h"

namespace plimsoll::examples {
namespace {

constexpr int64_t kBatch = 128;
constexpr int64_t kPixels = 28 * 28;

struct Images {
  testing::NpyArray pixels;
  testing::NpyArray labels;
  int64_t count() const { return labels.elements(); }
};

struct Data {
  Images train;
  Images test;
};

Data read_data(const std::string& path) {
  auto arrays = testing::read_npz(path);
  return {{std::move(arrays.at("x_train")), std::move(arrays.at("y_train"))},
          {std::move(arrays.at("x_test")), std::move(arrays.at("y_test"))}};
}

// Fills the batch with the images at order[first...]; past the end it starts again, so that every batch is full.
void fill_batch(const Images& images, const std::vector<int64_t>& order, int64_t first, const std::vector<Tensor>& batch) {
  auto* x = batch[0].data<float>();
  for (int64_t i = 0; i < kBatch; ++i) {
    const int64_t image = order[static_cast<size_t>((first + i) % images.count())];
    const uint8_t* pixels = images.pixels.data<uint8_t>() + image * kPixels;
    for (int64_t p = 0; p < kPixels; ++p) x[i * kPixels + p] = static_cast<float>(pixels[p]) / 255.0f;
    if (batch.size() > 1) batch[1].data<int32_t>()[i] = images.labels.data<uint8_t>()[image];
  }
}

void shuffle(std::vector<int64_t>& order, uint64_t seed) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[testing::hash_at(seed, i) % i]);
}

std::vector<int64_t> in_order(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

double accuracy(Program& predict, const Images& images) {
  const std::vector<int64_t> order = in_order(images.count());
  const std::vector<Tensor> batch = {Tensor::empty(DType::f32, {kBatch, 28, 28, 1})};
  std::vector<Tensor> out(1);
  int64_t right = 0;
  for (int64_t first = 0; first < images.count(); first += kBatch) {
    fill_batch(images, order, first, batch);
    predict.run(batch, out);
    for (int64_t i = 0; i < std::min(kBatch, images.count() - first); ++i) {
      const float* p = out[0].data<float>() + i * 10;
      right += std::max_element(p, p + 10) - p == images.labels.data<uint8_t>()[first + i] ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(images.count());
}

int64_t peak_resident_kib() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  char line[256];
  long long kib = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::strncmp(line, "VmHWM:", 6) == 0) std::sscanf(line + 6, "%lld", &kib);
  }
  std::fclose(status);
  return kib;
}

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void print_plan(std::FILE* out, const Program& train) {
  const MemoryReport& m = train.memory();
  std::fprintf(out, "memory plan of a training step of %lld images, %zu kernel calls:\n", static_cast<long long>(kBatch),
               train.steps());
  std::fprintf(out, "  weights and optimizer %8.2f MiB\n", mib(m.variables));
  std::fprintf(out, "  arena                 %8.2f MiB (no plan of this order can be below %.2f)\n", mib(m.arena),
               mib(m.lower_bound));
  std::fprintf(out, "  constants             %8.2f MiB\n", mib(m.constants));
}

// One pass over the images; the mean loss.
double run_epoch(std::FILE* out, int epoch, Program& train, const Images& images, std::vector<int64_t>& order,
                 const std::vector<Tensor>& batch) {
  shuffle(order, static_cast<uint64_t>(epoch));
  const bool live = isatty(fileno(out)) != 0;
  const int64_t steps = images.count() / kBatch;
  std::vector<Tensor> loss(1);
  double sum = 0;
  for (int64_t step = 0; step < steps; ++step) {
    fill_batch(images, order, step * kBatch, batch);
    train.run(batch, loss);
    sum += loss[0].item();
    if (live) {
      std::fprintf(out, "\repoch %d  %3lld/%lld  loss %.4f", epoch, static_cast<long long>(step + 1),
                   static_cast<long long>(steps), sum / static_cast<double>(step + 1));
      std::fflush(out);
    }
  }
  if (live) std::fputc('\r', out);
  return sum / static_cast<double>(steps);
}

}  // namespace

double train_fashion_mnist(const FashionOptions& options, std::FILE* out) {
  const Data data = read_data(options.data);
  const models::Model& model = models::get_model("mnist_b128");
  models::Weights weights;
  CompileOptions compile;
  compile.threads = options.threads;
  Program train = Program::compile(models::train_graph(model, weights, kBatch), compile);
  Program predict = Program::compile(models::predict_graph(model, weights, kBatch), compile);
  print_plan(out, train);
  const std::vector<Tensor> batch = {Tensor::empty(DType::f32, {kBatch, 28, 28, 1}), Tensor::empty(DType::i32, {kBatch})};
  std::vector<int64_t> order = in_order(data.train.count());
  double right = 0;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = run_epoch(out, epoch, train, data.train, order, batch);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    right = accuracy(predict, data.test);
    std::fprintf(out, "epoch %d  loss %.4f  test accuracy %.2f %%  %.1f s, %.1f ms a step\n", epoch, loss, 100 * right,
                 spent.count(), 1e3 * spent.count() / static_cast<double>(data.train.count() / kBatch));
  }
  std::fprintf(out, "peak resident memory of the process: %.1f MiB\n", static_cast<double>(peak_resident_kib()) / 1024);
  return right;
}

}  // namespace plimsoll::examples
