#include "layers/base/cell.h"

#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/control.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

// Exchanges the axes of batch and time.
Tensor time_first(const Tensor& x) {
  Ints order(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

Tensor of_rank(Tensor mask, int rank) {
  while (mask.rank() < rank) mask = expand_dims(mask, -1);
  return mask;
}

struct ForgetBias final : InitializerBase {
  explicit ForgetBias(Initializer rest) : rest(std::move(rest)) {}
  std::string_view class_name() const override { return "ForgetBias"; }
  Tensor make(const Shape& shape, DType dtype) override {
    const int64_t units = shape[0] / 4;
    const Tensor parts[] = {rest->make({units}, dtype), Tensor::full(dtype, {units}, 1),
                            rest->make({2 * units}, dtype)};
    return concatenate(parts, 0);
  }
  Initializer rest;
};

}  // namespace

Initializer forget_bias(Initializer rest) { return std::make_shared<ForgetBias>(std::move(rest)); }

std::string state_name(size_t i) { return concat("rnn_state/", i); }

std::vector<Tensor> CellLayer::call_many(Scope& s, std::span<const Tensor> xs) {
  const size_t count = state_sizes().size();
  require(xs.size() == count + 1, name(), "expected an input and ", count, " states, got ", xs.size(),
          " tensors");
  return prepare(s, xs[0].type())(xs[0], xs.subspan(1));
}

CellLayer& cell_of(const Layer& layer, std::string_view place) {
  auto* cell = dynamic_cast<CellLayer*>(layer.get());
  require(cell != nullptr, place, "expected a cell such as LSTMCell, got ",
          layer ? layer->class_name() : "nothing");
  return *cell;
}

std::vector<Tensor> walk_over_time(const Tensor& x, std::vector<Tensor> states, const CellStep& step,
                                   const TimeWalk& walk) {
  std::vector<Tensor> along = {time_first(x)};
  if (walk.mask.defined()) along.push_back(time_first(walk.mask));
  const size_t count = states.size();
  const Body body = [&](std::span<const Tensor> in) {
    const std::span<const Tensor> before = in.first(count);
    const std::vector<Tensor> made = step(in[count], before);
    Tensor output = made[0];
    std::vector<Tensor> after(made.begin() + 1, made.end());
    if (walk.mask.defined()) {
      const auto kept = [&](const Tensor& like) { return of_rank(in[count + 1], like.rank()); };
      const Tensor otherwise = walk.zero_output_for_mask ? scalar_like(output, 0) : before[walk.output_state];
      output = where(kept(output), output, otherwise);
      for (size_t i = 0; i < count; ++i) after[i] = where(kept(after[i]), after[i], before[i]);
    }
    after.push_back(output);
    return after;
  };
  std::vector<Tensor> found = scan(states, along, x.dim(1), body, walk.go_backwards);
  std::vector<Tensor> results = {time_first(found[count])};
  results.insert(results.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
  return results;
}

std::vector<Tensor> recurrent_results(Scope& s, const std::vector<Tensor>& found, const TimeWalk& walk,
                                      const SequenceOptions& options) {
  std::vector<Tensor> results;
  if (options.return_sequences) {
    results.push_back(walk.go_backwards ? reverse(found[0], {1}) : found[0]);
    s.set_mask(results[0], walk.mask);
  } else {
    const int64_t at = walk.go_backwards ? 0 : found[0].dim(1) - 1;
    const bool is_state = !walk.mask.defined() || !walk.zero_output_for_mask;
    results.push_back(is_state ? found[1 + walk.output_state]
                               : squeeze(slice_axis(found[0], 1, at, at + 1), 1));
  }
  if (options.return_state) results.insert(results.end(), found.begin() + 1, found.end());
  return results;
}

std::vector<Tensor> initial_states(Scope& s, std::span<const Tensor> xs, const std::vector<Shape>& shapes,
                                   bool stateful) {
  std::vector<Tensor> given(xs.begin() + 1, xs.end());
  if (given.empty()) given = s.arguments("initial_state");
  const DType dtype = xs[0].dtype();
  const std::string& place = s.layer().name();
  if (stateful) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Tensor held = s.weight(state_name(i), shapes[i], "zeros", {.is_state = true});
      if (given.size() < shapes.size()) given.push_back(held);
    }
  }
  if (given.empty()) {
    for (const Shape& shape : shapes) given.push_back(Tensor::zeros(dtype, shape));
  }
  require(given.size() == shapes.size(), place, "expected ", shapes.size(), " initial states, got ",
          given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    require(given[i].shape() == shapes[i], place, "expected an initial state of shape ", shapes[i], ", got ",
            given[i].shape());
    given[i] = cast(given[i], dtype);
  }
  return given;
}

void keep_states(Scope& s, const std::vector<Tensor>& found) {
  for (size_t i = 1; i < found.size(); ++i) s.update(state_name(i - 1), found[i]);
}

}  // namespace plimsoll
