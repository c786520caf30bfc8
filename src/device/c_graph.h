// CGraph: a graph, or one call of an op, as the structs of include/plimsoll/device.h. Everything they point
// to lives in this object, in the graph it was made of, or in OpDefs.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"

namespace plimsoll {

class CGraph {
 public:
  explicit CGraph(const Graph& graph, std::span<const DeviceProgram::Part> parts = {});
  // A graph of one node, whose values are its inputs, then its outputs.
  CGraph(const OpCall& call, std::span<const TensorType> out);
  CGraph(const CGraph&) = delete;
  CGraph& operator=(const CGraph&) = delete;

  const plimsoll_graph* get() const { return &graph_; }

 private:
  void add_node(const OpCall& call, std::span<const TensorType> out, std::span<const ValueId> inputs,
                std::span<const ValueId> outputs, const std::string& layer);
  std::span<const plimsoll_attr> attrs_of(const OpDef& op, const Attrs& attrs);
  plimsoll_attr attr_of(const OpDef& op, const std::string& name, const Attr& value);
  const int32_t* ids(std::span<const ValueId> values);
  void finish();

  std::span<const DeviceProgram::Part> parts_;
  plimsoll_graph graph_{};
  std::vector<plimsoll_type> values_;
  std::vector<plimsoll_node> nodes_;
  // These do not move what is in them.
  std::deque<std::vector<plimsoll_attr>> attrs_;
  std::deque<std::vector<int32_t>> ids_;
  std::deque<std::string> texts_;
  std::deque<CGraph> bodies_;
};

}  // namespace plimsoll
