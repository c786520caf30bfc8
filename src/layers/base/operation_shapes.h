// Functions of keras.ops that index, move and repeat what there is (operation_functions.cpp has the table).
#pragma once

#include <string_view>
#include <vector>

#include "layers/base/operands.h"

namespace plimsoll::operation {

using Json = ConfigJson;
using Tensors = std::vector<Tensor>;

[[noreturn]] void unsupported(const Operands& o, std::string_view what);
Tensor x_of(const Operands& o);
Tensor to_bool(const Tensor& x);
Tensor to_float(const Tensor& x);
// Counted from the front. `rank` is that of the result where axes are added.
int from_front(const Operands& o, int64_t axis, int rank);
Tensor flat(const Tensor& x);
// NumPy's axis=None: over all elements in a row, and `axis` is theirs.
Tensor flat_unless_axis(const Operands& o, int& axis);
Tensor part_of(const Tensor& x, int axis, int64_t begin, int64_t end);

Tensor get_item(const Operands& o);
Tensor reshape_to(const Operands& o);
Tensor transpose_by(const Operands& o);
Tensor swap_axes(const Operands& o);
Tensor move_axes(const Operands& o);
Tensor expand(const Operands& o);
Tensor squeeze_out(const Operands& o);
Tensor stack(const Operands& o);
// At the places or in as many parts as the call says; uneven: the first ones may be longer by one.
Tensors split_along(const Operands& o, const Tensor& x, int axis, bool uneven);
Tensors split(const Operands& o);
Tensors unstack(const Operands& o);
Tensor repeat(const Operands& o);
Tensor tile(const Operands& o);
Tensor flip(const Operands& o);
Tensor roll(const Operands& o);
Tensor pad_with(const Operands& o);
Tensor take_of(const Operands& o);
Tensor slice_of(const Operands& o);

}  // namespace plimsoll::operation
