#include "keras_io/new_values.h"

#include "memory/spill.h"
#include "plimsoll/contents.h"
#include "plimsoll/ops/math.h"

namespace plimsoll::keras_io {

void NewValues::add(const H5File& file, const H5Dataset& from, const VariablePtr& to) {
  const Tensor& value = to->value;
  spill::check_mine(value.buffer()->address());
  if (when_ == Write::at_once && from.type.dtype == value.dtype())
    return write_bytes(value, [&](void* bytes) { file.read(from, bytes); });
  add(file.read(from), to);
}

void NewValues::add(const Tensor& value, const VariablePtr& to) {
  const Tensor fitting = value.dtype() == to->value.dtype() ? value : cast(value, to->value.dtype());
  if (when_ == Write::at_once)
    assign(to->value, fitting);
  else
    held_.emplace_back(to, fitting);
}

void NewValues::commit() noexcept {
  for (const auto& [variable, value] : held_) assign(variable->value, value);
  held_.clear();
}

}  // namespace plimsoll::keras_io
