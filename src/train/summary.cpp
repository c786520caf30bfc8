// Model::summary: Keras's table of layers.
#include <algorithm>
#include <map>

#include "common/bytes.h"
#include "layers/base/functional.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

using Row = std::vector<std::string>;

// 1234567 as "1,234,567".
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = std::ssize(text) - 3; i > 0; i -= 3) text.insert(static_cast<size_t>(i), 1, ',');
  return text;
}

// The calls of a network, so that a layer's output shapes and its inputs can be shown.
std::vector<std::shared_ptr<const LayerCall>> calls_of(const Network& network) {
  if (const auto* functional = dynamic_cast<const Functional*>(&network)) return functional->calls();
  std::vector<std::shared_ptr<const LayerCall>> calls;
  if (network.outputs().empty()) return calls;
  for (std::shared_ptr<const LayerCall> call = network.outputs()[0].call(); call != nullptr;) {
    calls.insert(calls.begin(), call);
    call = call->inputs.empty() ? nullptr : call->inputs[0].call();
  }
  return calls;
}

std::vector<Row> rows_of(const Network& network, bool connected) {
  std::map<const LayerBase*, std::string> shapes, sources;
  for (const auto& call : calls_of(network)) {
    const LayerBase* layer = call->layer.get();
    if (shapes.count(layer) == 0) {
      for (const LayerCall::Output& y : call->outputs)
        shapes[layer] += concat(shapes[layer].empty() ? "" : ", ", text_of(y.shape));
    }
    for (const Symbol& x : call->inputs) {
      sources[layer] +=
          concat(sources[layer].empty() ? "" : ", ", x.call()->layer->name(), "[", x.index(), "]");
    }
  }
  std::vector<Row> rows;
  for (const Layer& layer : network.layers()) {
    const bool is_input = layer->class_name() == "InputLayer";
    if (is_input && !connected) continue;
    const bool known = layer->built() || is_input;
    rows.push_back({concat(layer->name(), " (", layer->class_name(), ")"),
                    shapes.count(layer.get()) ? shapes[layer.get()] : "?",
                    known ? grouped(layer->count_params()) : "0 (unbuilt)"});
    if (connected) rows.back().push_back(sources.count(layer.get()) ? sources[layer.get()] : "-");
  }
  return rows;
}

// Columns are as wide as what stands in them, up to a line that still reads well.
constexpr size_t kWidest = 44;

std::string cut(const std::string& text, size_t width) {
  if (text.size() > width) return concat(std::string_view(text).substr(0, width - 3), "...");
  return concat(text, std::string(width - text.size(), ' '));
}

std::string line(const std::vector<size_t>& widths, std::string_view left, std::string_view fill,
                 std::string_view middle, std::string_view right) {
  std::string text(left);
  for (size_t i = 0; i < widths.size(); ++i) {
    for (size_t k = 0; k < widths[i] + 2; ++k) text += fill;
    text += i + 1 < widths.size() ? middle : right;
  }
  return text + "\n";
}

std::string cells(const Row& row, const std::vector<size_t>& widths, std::string_view bar) {
  std::string text(bar);
  for (size_t i = 0; i < row.size(); ++i) {
    const bool number = i == 2;
    const std::string padding =
        number && row[i].size() < widths[i] ? std::string(widths[i] - row[i].size(), ' ') : "";
    text += concat(" ", padding, cut(row[i], widths[i] - padding.size()), " ", bar);
  }
  return text + "\n";
}

struct Count {
  int64_t weights = 0, bytes = 0;
};
Count count(const std::vector<VariablePtr>& variables) {
  Count c;
  for (const VariablePtr& v : variables) {
    c.weights += v->value.shape().elements();
    c.bytes += byte_size(v->value.dtype(), v->value.shape());
  }
  return c;
}

std::string total(std::string_view what, const Count& c) {
  return concat(" ", what, ": ", grouped(c.weights), " (", bytes_text(c.bytes), ")\n");
}

}  // namespace

std::string Model::summary() const {
  const Network& network = body().net();
  const bool connected = dynamic_cast<const Functional*>(&network) != nullptr;
  Row titles = {"Layer (type)", "Output Shape", "Param #"};
  if (connected) titles.emplace_back("Connected to");
  const std::vector<Row> rows = rows_of(network, connected);
  std::vector<size_t> widths;
  for (size_t i = 0; i < titles.size(); ++i) {
    widths.push_back(titles[i].size());
    for (const Row& row : rows) widths[i] = std::max(widths[i], std::min(row[i].size(), kWidest));
  }
  std::string text = concat("Model: \"", name(), "\"\n", line(widths, "┏", "━", "┳", "┓"),
                            cells(titles, widths, "┃"), line(widths, "┡", "━", "╇", "┩"));
  for (size_t i = 0; i < rows.size(); ++i) {
    text += cells(rows[i], widths, "│");
    text += i + 1 < rows.size() ? line(widths, "├", "─", "┼", "┤") : line(widths, "└", "─", "┴", "┘");
  }
  return concat(text, total("Total params", count(network.weights())),
                total("Trainable params", count(network.trainable_weights())),
                total("Non-trainable params", count(network.non_trainable_weights())));
}

}  // namespace plimsoll
