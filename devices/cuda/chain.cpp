#include "chain.h"

#include <algorithm>
#include <unordered_map>

#include "text.h"
#include "vectors.h"

namespace plimsoll::cuda {
namespace {

bool joins(const Space& space, size_t d) {
  for (const Sizes& s : space.strides)
    if (s[d] != s[d + 1] * space.sizes[d + 1]) return false;
  return true;
}

// Collects a chain from nodes, each of which has one output.
class Collector {
 public:
  Chain take() { return std::move(chain_); }

  void read(int32_t value, const Type& type, size_t input) {
    const std::string variable = concat("x", chain_.reads.size());
    chain_.reads.push_back({type, input, variable});
    names_[value] = {variable, type.dtype};
  }
  void constant(const Node& node) {
    const plimsoll_attr* const value = node.attr("value");
    const DType t = node.out(0).dtype;
    names_[node.output(0)] = {element_literal(value->data, t), t};
  }
  void member(const Node& node) {
    if (is_reduction(node.op()))
      fold(node);
    else if (node.op() == "broadcast_to")
      names_[node.output(0)] = names_.at(node.input(0));
    else
      map(node);
    chain_.sizes = is_reduction(node.op()) ? node.in(0).sizes : node.out(0).sizes;
  }
  void output(int32_t value, size_t index) {
    if (const auto fold = folds_.find(value); fold != folds_.end())
      chain_.folds[fold->second].output = index;
    else
      chain_.writes.push_back({names_.at(value).variable, names_.at(value).dtype, index});
  }

 private:
  struct Named {
    std::string variable;
    DType dtype;
  };

  void map(const Node& node) {
    std::vector<std::string> operands;
    std::vector<DType> types;
    for (size_t i = 0; i < node.input_count(); ++i) {
      const Named& named = names_.at(node.input(i));
      operands.push_back(named.variable);
      types.push_back(named.dtype);
    }
    const plimsoll_node& n = node.get();
    if (n.meaning == nullptr) fail(ErrorKind::unsupported, node.op(), "does not say what it computes");
    Tile tile;
    tile.meaning = n.meaning;
    for (size_t i = 0; i < 4; ++i) tile.params[i] = n.params[i];
    const std::string variable = concat("y", count_++);
    const DType type = node.out(0).dtype;
    chain_.text += element_statements(tile, operands, types, variable, type);
    names_[node.output(0)] = {variable, type};
  }

  void fold(const Node& node) {
    const Type in = node.in(0);
    const Sizes axes = node.ints("axes");
    std::vector<bool> reduced(in.sizes.size(), axes.empty());
    for (const int64_t axis : axes) reduced[axis_of(axis, in.rank())] = true;
    folds_[node.output(0)] = chain_.folds.size();
    chain_.folds.push_back({names_.at(node.input(0)).variable, node.out(0).dtype, node.op(), reduced, 0});
  }

  Chain chain_;
  std::unordered_map<int32_t, Named> names_;
  std::unordered_map<int32_t, size_t> folds_;
  int count_ = 0;
};

Chain chain_of_body(const plimsoll_graph& body) {
  Collector c;
  for (int32_t i = 0; i < body.input_count; ++i)
    c.read(body.inputs[i], type_of(body.values[body.inputs[i]]), static_cast<size_t>(i));
  for (int32_t i = 0; i < body.node_count; ++i) {
    const Node member(body, i);
    if (member.op() == "constant")
      c.constant(member);
    else
      c.member(member);
  }
  for (int32_t i = 0; i < body.output_count; ++i) c.output(body.outputs[i], static_cast<size_t>(i));
  return c.take();
}

// A value that the node reads twice is read twice: the compiler sees that.
Chain chain_of_one(const Node& node) {
  Collector c;
  for (size_t i = 0; i < node.input_count(); ++i) c.read(node.input(i), node.in(i), i);
  c.member(node);
  c.output(node.output(0), 0);
  return c.take();
}

}  // namespace

void Space::join() {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1) continue;
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
    for (Sizes& s : strides) s.erase(s.begin() + static_cast<ptrdiff_t>(d));
  }
  for (size_t d = sizes.size(); d-- > 1;) {
    if (!joins(*this, d - 1)) continue;
    sizes[d - 1] *= sizes[d];
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(d));
    for (Sizes& s : strides) {
      s[d - 1] = s[d];
      s.erase(s.begin() + static_cast<ptrdiff_t>(d));
    }
  }
}

Sizes broadcast_strides(const Sizes& from, const Sizes& space) {
  const Sizes own = row_major(from);
  const size_t missing = space.size() - from.size();
  Sizes strides(space.size(), 0);
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1) strides[missing + d] = own[d];
  return strides;
}

Chain chain_of(const Node& node) {
  if (node.op() == "fused") return chain_of_body(*node.attr("body")->graph);
  return chain_of_one(node);
}

bool is_reduction(std::string_view op) {
  return op == "reduce_sum" || op == "reduce_prod" || op == "reduce_max" || op == "reduce_min" ||
         op == "reduce_and" || op == "reduce_or";
}

void lower_chain(Build& b) {
  const Chain chain = chain_of(b.node);
  if (!chain.folds.empty()) return lower_folds(b, chain);
  lower_points(b, chain);
}

void lower_points(Build& b, const Chain& chain) {
  if (product(chain.sizes) == 0) return;
  Space space{chain.sizes, {}};
  std::vector<size_t> sizes;
  for (const Chain::Read& read : chain.reads) {
    space.strides.push_back(broadcast_strides(read.type.sizes, chain.sizes));
    sizes.push_back(size_of(read.type.dtype));
  }
  space.strides.push_back(row_major(chain.sizes));
  size_t widest = 1;
  for (const Chain::Write& write : chain.writes) widest = std::max(widest, size_of(write.dtype));
  sizes.push_back(widest);
  space.join();
  // A device that is not full is faster with one element per thread.
  const int64_t room = space.count() / (512 * std::max(1, b.device.multiprocessors));
  const int64_t width = vector_width(space, sizes, std::max<int64_t>(room, 1));
  std::vector<std::string_view> types;
  std::vector<Ref> args;
  std::string body =
      concat("const index first = at * ", width, ";\n", coordinates(space.sizes, "first", "index"));
  std::string inner, stores;
  for (size_t i = 0; i < chain.reads.size(); ++i) {
    const Chain::Read& read = chain.reads[i];
    const VectorRead one = vector_read(i, stored(read.type.dtype), space.strides[i],
                                       space.strides[i] == space.strides.back(), width);
    body += one.declare;
    inner += concat("const ", computed(read.type.dtype), " ", read.variable, " = ",
                    load_element(one.element, read.type.dtype), ";\n");
    types.push_back(stored(read.type.dtype));
    args.push_back(read.from(b));
  }
  inner += chain.text;
  for (const Chain::Write& write : chain.writes) {
    const VectorWrite one = vector_write(types.size(), stored(write.dtype), width);
    body += one.declare;
    inner += concat(one.element, " = ", store_element(write.value, write.dtype), ";\n");
    stores += one.store;
    types.push_back(stored(write.dtype));
    args.push_back(b.out(write.output));
  }
  b.each(parameters(types, chain.reads.size()), space.count() / width,
         concat(body, vector_loop(width), inner, "}\n", stores), std::move(args));
}

}  // namespace plimsoll::cuda
