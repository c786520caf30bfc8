// GradContext: what an op's gradient function sees of one node. It builds nodes with the functions of
// ops.h and touches no memory, so a gradient runs on every device, can be planned, and can be
// differentiated again.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

class GradContext {
 public:
  GradContext(std::span<const Tensor> in, std::span<const Tensor> out, std::span<const Tensor> dout,
              const Attrs& attrs, std::span<const bool> wanted)
      : in_(in), out_(out), dout_(dout), attrs_(attrs), wanted_(wanted), din_(in.size()) {}

  int inputs() const { return static_cast<int>(in_.size()); }
  int outputs() const { return static_cast<int>(out_.size()); }
  const Tensor& in(int i) const { return in_[static_cast<size_t>(i)]; }
  const Tensor& out(int i = 0) const { return out_[static_cast<size_t>(i)]; }
  const Attrs& attrs() const { return attrs_; }
  // Whether a gradient flows into output i; dout(i) is undefined() if not.
  bool has_dout(int i = 0) const { return dout_[static_cast<size_t>(i)].defined(); }
  const Tensor& dout(int i = 0) const { return dout_[static_cast<size_t>(i)]; }
  // Whether anyone needs the gradient of input i: skip the work if not.
  bool wants(int i) const { return wanted_[static_cast<size_t>(i)]; }
  // The gradient of input i, of the type of that input. Not setting it means zero.
  void set(int i, Tensor gradient) { din_[static_cast<size_t>(i)] = std::move(gradient); }

  const std::vector<Tensor>& result() const { return din_; }

 private:
  std::span<const Tensor> in_, out_, dout_;
  const Attrs& attrs_;
  std::span<const bool> wanted_;
  std::vector<Tensor> din_;
};

}  // namespace plimsoll
