#include <algorithm>
#include <utility>

#include "data/reader.h"
#include "data/settings.h"
#include "plimsoll/data.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using data::OrderStep;
using data::Settings;

std::shared_ptr<const Dataset::Body> body_of(data::SourcePtr source) {
  auto body = std::make_shared<Dataset::Body>();
  body->types = source->types();
  body->settings.threads = source->threads();
  body->settings.prefetch = source->prefetch();
  body->source = std::move(source);
  return body;
}

template <class Edit>
std::shared_ptr<const Dataset::Body> edited(const Dataset::Body& from, Edit&& edit) {
  auto body = std::make_shared<Dataset::Body>(from);
  edit(body->settings);
  return body;
}

std::shared_ptr<const Dataset::Body> with_step(const Dataset::Body& from, const OrderStep& step) {
  auto body = edited(from, [&](Settings& s) { s.order.push_back(step); });
  if (body->random_access())
    data::size_after(*body->source->records(), body->settings.order);  // checks for overflow
  return body;
}

// A record of zeros, as a map is tried on.
Record zeros(const RecordTypes& types) {
  Record record;
  for (const auto& [dtype, shape] : types.x) record.x.push_back(Tensor::zeros(dtype, shape));
  for (const auto& [dtype, shape] : types.y) record.y.push_back(Tensor::zeros(dtype, shape));
  for (const auto& [dtype, shape] : types.weights) record.weights.push_back(Tensor::zeros(dtype, shape));
  return record;
}

RecordTypes types_of(const Record& record) {
  RecordTypes types;
  const auto add = [](const std::vector<Tensor>& tensors, std::vector<TensorType>& list) {
    for (const Tensor& t : tensors) {
      require(t.defined() && !t.is_symbolic(), "dataset.map",
              "expected concrete tensors in the changed record");
      list.push_back(t.type());
    }
  };
  add(record.x, types.x);
  add(record.y, types.y);
  add(record.weights, types.weights);
  require(!types.x.empty(), "dataset.map", "expected the changed record to have a tensor in x, got none");
  return types;
}

}  // namespace

Dataset Dataset::arrays(std::vector<Tensor> x, std::vector<Tensor> y, std::vector<Tensor> weights) {
  return Dataset(body_of(data::array_source(std::move(x), std::move(y), std::move(weights))));
}

Dataset Dataset::npy(const std::string& x_path, const std::string& y_path) {
  return Dataset(body_of(data::npy_source(x_path, y_path)));
}

Dataset Dataset::npz(const std::string& path, const NpzOptions& options) {
  return Dataset(body_of(data::npz_source(FileSource::open(path), options)));
}

Dataset Dataset::csv(const std::string& path, const CsvOptions& options) {
  return Dataset(body_of(data::csv_source(FileSource::open(path), options)));
}

Dataset Dataset::hdf5(const std::string& path, const Hdf5Options& options) {
  return Dataset(body_of(data::hdf5_source(path, options)));
}

Dataset Dataset::images(const std::string& folder, const ImageOptions& options) {
  return Dataset(body_of(data::image_source(folder, options)));
}

Dataset Dataset::generator(std::function<Generator(int64_t epoch)> open, RecordTypes types) {
  return Dataset(body_of(data::generator_source(std::move(open), std::move(types))));
}

Dataset Dataset::shuffle(uint64_t seed, int64_t window) const {
  require(window >= 0, "dataset.shuffle", "expected a window of 0 or more records, got ", window);
  return Dataset(with_step(body(), {.kind = OrderStep::Kind::shuffle, .seed = seed, .window = window}));
}

Dataset Dataset::take(int64_t count) const {
  require(count >= 0, "dataset.take", "expected a count of 0 or more, got ", count);
  return Dataset(with_step(body(), {.kind = OrderStep::Kind::take, .count = count}));
}

Dataset Dataset::skip(int64_t count) const {
  require(count >= 0, "dataset.skip", "expected a count of 0 or more, got ", count);
  return Dataset(with_step(body(), {.kind = OrderStep::Kind::skip, .count = count}));
}

Dataset Dataset::repeat(int64_t count) const {
  require(count >= 0, "dataset.repeat", "expected a count of 0 or more, got ", count);
  return Dataset(with_step(body(), {.kind = OrderStep::Kind::repeat, .count = count}));
}

Dataset Dataset::batch(int64_t size, bool drop_remainder) const {
  require(size > 0, "dataset.batch", "expected a size of 1 or more, got ", size);
  for (const TensorType& type : data::flat_types(body().types))
    byte_size(type.dtype, type.shape.inserted(0, size));
  return Dataset(edited(body(), [&](Settings& s) {
    s.batch = size;
    s.drop_remainder = drop_remainder;
  }));
}

Dataset Dataset::map(std::function<void(Record&)> change, int threads) const {
  require(change != nullptr, "dataset.map", "expected a function, got none");
  require(threads >= 0 && threads <= 1024, "dataset.map", "expected 0 to 1024 threads, got ", threads);
  auto changed = std::make_shared<Body>(body());
  Record sample = zeros(changed->types);
  change(sample);
  changed->types = types_of(sample);
  changed->settings.threads = std::max(changed->settings.threads, threads);
  changed->settings.changes.push_back(std::move(change));
  return Dataset(std::move(changed));
}

Dataset Dataset::prefetch(int64_t batches) const {
  require(batches >= 0 && batches <= 1024, "dataset.prefetch", "expected 0 to 1024 batches, got ", batches);
  return Dataset(edited(body(), [&](Settings& s) { s.prefetch = batches; }));
}

Dataset Dataset::skip_bad(bool skip) const {
  return Dataset(edited(body(), [&](Settings& s) { s.skip_bad = skip; }));
}

const Dataset::Body& Dataset::body() const {
  require(body_ != nullptr, "dataset", "expected a data set, got one that was moved away");
  return *body_;
}

bool Dataset::random_access() const { return body().random_access(); }

std::optional<int64_t> Dataset::records() const {
  if (!random_access()) return std::nullopt;
  return data::size_after(*body().source->records(), body().settings.order);
}

std::optional<int64_t> Dataset::batches() const {
  const std::optional<int64_t> count = records();
  if (!count || body().leaves_out()) return std::nullopt;
  const int64_t size = body().settings.batch;
  return *count / size + (*count % size != 0 && !body().settings.drop_remainder ? 1 : 0);
}

// Beside those of one epoch the last one may be that of the epoch before.
int64_t Dataset::batches_held() const {
  const int64_t most = body().settings.batches_held(), all = batches().value_or(most);
  return std::min(most, std::max<int64_t>(all, 1) + 1);
}
int64_t Dataset::workspace() const {
  return body().source->workspace() * std::max<int64_t>(body().settings.reading_threads(), 1);
}
int64_t Dataset::batch_size() const { return body().settings.batch; }
const RecordTypes& Dataset::types() const { return body().types; }
const std::vector<std::string>& Dataset::class_names() const { return body().source->class_names(); }

std::vector<Tensor> Dataset::tensors() const { return body().source->tensors(); }

std::unique_ptr<BatchReader> Dataset::read(int64_t epoch, int64_t first_batch) const {
  require(epoch >= 0 && first_batch >= 0, "dataset.read", "expected an epoch and a batch of 0 or more, got ",
          epoch, " and ", first_batch);
  (void)body();
  return data::make_reader(body_, epoch, first_batch);
}

}  // namespace plimsoll
