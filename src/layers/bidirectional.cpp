// Bidirectional: a recurrent layer forwards in time, another backwards.
#include "layers/base/parts.h"
#include "layers/base/recurrent.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct BidirectionalLayer final : LayerBase {
  Layer forward_layer, backward_layer;
  std::optional<std::string> merge_mode = "concat";

  std::string_view class_name() const override { return "Bidirectional"; }
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override {
    if (forward_layer) visit("forward_layer", forward_layer);
    if (backward_layer) visit("backward_layer", backward_layer);
  }
  void fields(Fields& f) override {
    f("merge_mode", merge_mode);
    f("layer", forward_layer);
    f("backward_layer", backward_layer);
    if (f.reading()) settle();
  }

  static RecurrentLayer& recurrent(const Layer& layer) {
    auto* rnn = dynamic_cast<RecurrentLayer*>(layer.get());
    require(rnn != nullptr, "Bidirectional", "expected a SimpleRNN, LSTM or GRU inside, got ",
            layer ? layer->class_name() : "nothing");
    return *rnn;
  }
  // Makes the layer that is missing, and checks that the two fit.
  void settle() {
    RecurrentLayer& forward = recurrent(forward_layer);
    if (!backward_layer) {
      const std::shared_ptr<RecurrentLayer> made = forward.copy();
      made->o.go_backwards = !forward.o.go_backwards;
      made->set_activity_regularizer(forward.activity_regularizer());
      made->set_dtype_policy_of(forward);
      made->set_name("backward_" + plain_name(forward.name()));
      backward_layer = Layer(made);
    }
    RecurrentLayer& backward = recurrent(backward_layer);
    require(forward.o.go_backwards != backward.o.go_backwards, name(),
            "expected one layer that goes backwards, and one not");
    require(forward.o.return_sequences == backward.o.return_sequences &&
                forward.o.return_state == backward.o.return_state &&
                forward.o.stateful == backward.o.stateful,
            name(), "expected two layers alike in return_sequences, return_state and stateful");
    for (RecurrentLayer* rnn : {&forward, &backward}) rnn->o.zero_output_for_mask = rnn->o.return_sequences;
  }
  static std::string plain_name(const std::string& name) {
    constexpr std::string_view kForward = "forward_";
    return name.starts_with(kForward) ? name.substr(kForward.size()) : name;
  }

  Tensor merge(const Tensor& a, const Tensor& b) const {
    if (*merge_mode == "sum") return a + b;
    if (*merge_mode == "mul") return a * b;
    if (*merge_mode == "ave") return (a + b) / 2.0;
    const Tensor both[] = {a, b};
    return concatenate(both, -1);
  }

  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override {
    require(!xs.empty(), name(), "expected an input");
    if (merge_mode) check_choice(name(), "merge_mode", *merge_mode, {"sum", "mul", "ave", "concat"});
    const RecurrentLayer& forward = recurrent(forward_layer);
    std::vector<Tensor> states(xs.begin() + 1, xs.end());
    if (states.empty()) states = s.arguments("initial_state");
    const auto half = states.size() / 2;
    std::vector<Tensor> there = {xs[0]}, back = {xs[0]};
    there.insert(there.end(), states.begin(), states.begin() + static_cast<std::ptrdiff_t>(half));
    back.insert(back.end(), states.begin() + static_cast<std::ptrdiff_t>(half), states.end());

    const std::vector<Tensor> ys = s.call(forward_layer, there);
    const std::vector<Tensor> reversed = s.call(backward_layer, back);
    const Tensor& y = ys[0];
    const Tensor z = forward.o.return_sequences ? reverse(reversed[0], {1}) : reversed[0];
    std::vector<Tensor> results = merge_mode ? std::vector<Tensor>{merge(y, z)} : std::vector<Tensor>{y, z};
    if (forward.o.return_sequences) {
      for (const Tensor& result : results) s.set_mask(result, s.mask(xs[0]));
    }
    results.insert(results.end(), ys.begin() + 1, ys.end());
    results.insert(results.end(), reversed.begin() + 1, reversed.end());
    return results;
  }
};

}  // namespace

Layer Bidirectional(const Layer& rnn, const BidirectionalOptions& options) {
  const RecurrentLayer& given = BidirectionalLayer::recurrent(rnn);
  auto made = std::make_shared<BidirectionalLayer>();
  const std::shared_ptr<RecurrentLayer> forward = given.copy();
  forward->set_activity_regularizer(given.activity_regularizer());
  forward->set_dtype_policy_of(given);
  forward->set_name("forward_" + BidirectionalLayer::plain_name(given.name()));
  made->forward_layer = Layer(forward);
  made->backward_layer = options.backward_layer;
  made->merge_mode = options.merge_mode;
  made->settle();
  return own_layer(std::move(made), options.name);
}

std::span<const ClassDef> classes_bidirectional() {
  static constexpr ClassDef rows[] = {
      {Family::layer, "Bidirectional", "", make_default<BidirectionalLayer>, {"layer"}}};
  return rows;
}

}  // namespace plimsoll
