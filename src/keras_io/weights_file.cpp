#include "keras_io/weights_file.h"

#include <algorithm>
#include <map>

#include "keras_io/weight_paths.h"
#include "layers/base/parts.h"
#include "memory/spill.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

struct Match {
  const H5File* file;
  const H5Dataset* from;
  VariablePtr to;
};

[[noreturn]] void does_not_fit(const H5File& file, const StoredVariable& v, std::string_view what) {
  fail(ErrorKind::bad_file, concat(file.name(), ": ", v.path()), "the weight '", v.variable->name,
       "' of layer '", v.layer, "' ", what);
}

// Some versions keep what is inside a layer in attributes whose names begin with "_" ("_query_dense").
const H5Dataset* find_dataset(const H5Group& root, const std::string& path) {
  if (const H5Dataset* found = root.dataset(path)) return found;
  const size_t vars = path.rfind("/vars/");
  const size_t holder = vars == std::string::npos ? vars : path.rfind('/', vars - 1);
  if (holder == std::string::npos) return nullptr;
  return root.dataset(concat(path.substr(0, holder + 1), "_", path.substr(holder + 1)));
}

std::vector<Match> match_all(std::span<const H5File> files, const Layer& network) {
  const bool old = files[0].root().group(kKeras2Layers) != nullptr;
  std::vector<Match> matches;
  std::map<std::pair<const H5File*, std::string>, size_t> counts;
  for (const StoredVariable& v : stored_variables(network, old)) {
    const std::string path = v.path();
    const H5Dataset* from = nullptr;
    const H5File* file = files.data();
    for (const H5File& part : files) {
      if (from) break;
      from = find_dataset(part.root(), path);
      if (from) file = &part;
    }
    if (!from && v.variable->is_seed) continue;
    if (!from) does_not_fit(*file, v, "is not in the file");
    if (from->type.shape != v.variable->value.shape()) {
      does_not_fit(*file, v,
                   concat("has the shape ", v.variable->value.shape(), ", the file's is ", from->type.shape));
    }
    if (!from->has_numbers()) does_not_fit(*file, v, concat("cannot be read: ", from->without_numbers()));
    matches.push_back({file, from, v.variable});
    ++counts[{file, path.substr(0, path.rfind('/'))}];
  }
  for (const auto& [place, count] : counts) {
    const auto& [file, group] = place;
    if (const H5Group* stored = file->root().group(group); stored && stored->datasets.size() != count) {
      fail(ErrorKind::bad_file, concat(file->name(), ": ", group), "expected ", count, " weights there, got ",
           stored->datasets.size());
    }
  }
  return matches;
}

void write_group(H5Writer& file, const std::string& group, std::string_view name) {
  const std::string path = group.empty() ? "vars" : group + "/vars";
  file.group(path);
  file.attribute(path, "name", name);
}

void write_state(H5Writer& file, const std::string& group, const std::string& name,
                 const std::vector<VariablePtr>& state) {
  write_group(file, group, name);
  for (size_t i = 0; i < state.size(); ++i) {
    file.dataset(concat(group, "/vars/", i), state[i]->value);
    spill::let_go(*state[i]->value.buffer());
  }
}

}  // namespace

bool is_keras3_weights(const H5Group& root) {
  return root.group("layers") || root.group(kKeras2Layers) || root.group("vars");
}

void write_weights(H5Writer& file, const Layer& network, const OptimizerState* optimizer) {
  write_group(file, "", network->name());
  std::string last = "/";
  for (const StoredVariable& v : stored_variables(network)) {
    if (v.group != last) write_group(file, last = v.group, v.layer);
    file.dataset(v.path(), v.variable->value);
  }
  if (!optimizer) return;
  const std::string name = snake_name(optimizer->optimizer()->class_name());
  const LossScale* scale = optimizer->loss_scale();
  write_state(file, "optimizer", scale ? snake_name(scale->class_name()) : name, optimizer->variables());
  if (scale) write_state(file, "optimizer/inner_optimizer", name, optimizer->inner_variables());
}

void read_weights(std::span<const H5File> files, const Layer& network, NewValues& values) {
  for (const Match& m : match_all(files, network)) values.add(*m.file, *m.from, m.to);
}

std::vector<VariablePtr> built_variables(OptimizerState& optimizer, const Layer& network) {
  optimizer.build(network->trainable_weights());
  return optimizer.variables();
}

std::string read_optimizer(const H5File& file, const H5Group& group, const Layer& network,
                           OptimizerState& optimizer, NewValues& values) {
  std::vector<VariablePtr> state = built_variables(optimizer, network);
  // Keras 2 keeps the rate in the config alone.
  const bool has_rate = !optimizer.optimizer()->learning_rate.schedule && !optimizer.loss_scale();
  if (has_rate && group.datasets.size() + 1 == state.size()) state.erase(state.begin() + 1);
  // Of an optimizer that has not made a step the file has the scalars alone.
  if (const std::vector<VariablePtr> first = optimizer.first_variables();
      group.datasets.size() <= first.size())
    state.assign(first.begin(), first.begin() + static_cast<ptrdiff_t>(group.datasets.size()));
  if (group.datasets.size() != state.size()) {
    return concat("expected ", state.size(), " variables, got ", group.datasets.size());
  }
  std::vector<const H5Dataset*> stored;
  for (size_t i = 0; i < state.size(); ++i) {
    stored.push_back(group.dataset(std::to_string(i)));
    if (!stored.back()) return concat("variable ", i, " is missing");
    if (stored.back()->type.shape != state[i]->value.shape()) {
      return concat("'", state[i]->name, "' has the shape ", state[i]->value.shape(), ", the file's is ",
                    stored.back()->type.shape);
    }
  }
  for (size_t i = 0; i < state.size(); ++i) values.add(file, *stored[i], state[i]);
  return {};
}

}  // namespace plimsoll::keras_io
