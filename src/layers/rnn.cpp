// RNN: a cell walked over time. StackedRNNCells: cells of which each sees what the one before it gives.
#include "layers/base/cell.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/layers/recurrent.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct StackedCells final : CellLayer {
  std::vector<Layer> cells;

  std::string_view class_name() const override { return "StackedRNNCells"; }
  void fields(Fields& f) override { f("cells", cells); }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    visit_list("cells", cells, visit);
  }

  // The cells' own sizes one after the other.
  std::vector<int64_t> state_sizes() const override {
    std::vector<int64_t> all;
    for (const Layer& cell : cells) {
      const std::vector<int64_t> sizes = cell_of(cell, name()).state_sizes();
      all.insert(all.end(), sizes.begin(), sizes.end());
    }
    return all;
  }
  const CellLayer& last_cell() const {
    require(!cells.empty(), name(), "expected at least one cell, got none");
    return cell_of(cells.back(), name());
  }
  int64_t output_size() const override { return last_cell().output_size(); }
  size_t output_state() const override {
    const CellLayer& last = last_cell();
    return state_sizes().size() - last.state_sizes().size() + last.output_state();
  }

  CellStep prepare(Scope& s, const TensorType& x) override {
    std::vector<CellStep> steps;
    std::vector<size_t> counts;
    TensorType input = x;
    for (const Layer& layer : cells) {
      CellLayer& cell = cell_of(layer, name());
      const Arguments none;
      Scope inner(s.trace(), cell, none);
      steps.push_back(cell.prepare(inner, input));
      counts.push_back(cell.state_sizes().size());
      input.shape = {x.shape[0], cell.output_size()};
    }
    return [steps, counts](const Tensor& step_input, std::span<const Tensor> states) {
      std::vector<Tensor> after = {step_input};
      for (size_t i = 0; i < steps.size(); ++i) {
        const std::vector<Tensor> made = steps[i](after[0], states.first(counts[i]));
        states = states.subspan(counts[i]);
        after[0] = made[0];
        after.insert(after.end(), made.begin() + 1, made.end());
      }
      return after;
    };
  }
};

struct RNNLayer final : LayerBase {
  explicit RNNLayer(RNNOptions options = {}) : o(std::move(options)) {}
  Layer cell;
  RNNOptions o;

  std::string_view class_name() const override { return "RNN"; }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    if (cell) visit("cell", cell);
  }
  void fields(Fields& f) override {
    f("return_sequences", o.return_sequences);
    f("return_state", o.return_state);
    f("go_backwards", o.go_backwards);
    f("stateful", o.stateful);
    f("unroll", o.unroll);
    f("zero_output_for_mask", o.zero_output_for_mask);
    f("cell", cell);
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(!xs.empty() && xs[0].rank() == 3 && xs[0].dim(1) > 0, name(),
            "expected an input (batch, time, features) of at least one step, got ",
            xs.empty() ? "none" : xs[0].shape().str());
    const Tensor& x = xs[0];
    CellLayer& step = cell_of(cell, name());
    std::vector<Shape> shapes;
    for (const int64_t size : step.state_sizes()) shapes.push_back({x.dim(0), size});
    const std::vector<Tensor> start = initial_states(s, xs, shapes, o.stateful);
    if (!step.built()) {  // by one step that nothing needs
      std::vector<Tensor> one = {squeeze(slice_axis(x, 1, 0, 1), 1)};
      one.insert(one.end(), start.begin(), start.end());
      s.call(cell, one);
    }
    const TimeWalk walk{s.mask(x), o.go_backwards, o.zero_output_for_mask, step.output_state()};
    const Arguments none;
    Scope inner(s.trace(), step, none);
    const CellStep ready = step.prepare(inner, {x.dtype(), {x.dim(0), x.dim(2)}});
    const std::vector<Tensor> found = walk_over_time(x, start, ready, walk);
    if (o.stateful) keep_states(s, found);
    return recurrent_results(s, found, walk, {o.return_sequences, o.return_state});
  }
};

}  // namespace

Layer StackedRNNCells(std::vector<Layer> cells, const WrapperOptions& options) {
  auto made = std::make_shared<StackedCells>();
  require(!cells.empty(), "StackedRNNCells", "expected at least one cell, got none");
  for (const Layer& cell : cells) cell_of(cell, "StackedRNNCells");
  made->cells = std::move(cells);
  return own_layer(std::move(made), options);
}

Layer RNN(const Layer& cell, const RNNOptions& options) {
  cell_of(cell, "RNN");
  auto made = std::make_shared<RNNLayer>(options);
  made->cell = cell;
  return own_layer(std::move(made), options);
}

std::span<const ClassDef> classes_rnn() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "RNN", "", make_default<RNNLayer>, {"cell"}},
      {Family::layer, "StackedRNNCells", "", make_default<StackedCells>, {"cells"}},
  };
  return rows;
}

}  // namespace plimsoll
