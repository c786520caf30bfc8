// The CPU kernels of pooling, for the tables of those ops. The results depend on no number of threads.
//   max_pool           x -> y [, index]    index: which point of its window (row-major) a maximum came from,
//   the
//                                          first of equals; kNoIndex where the window has no point inside x
//   max_pool_grad      dy, index -> dx
//   max_pool_take      x, index -> the elements of x at index
//   average_pool       x -> y              padding is not counted
//   average_pool_grad  dy -> dx
// "highway" is for float32 and its halves; "reference" also for float64.
#pragma once

#include "device/cpu/pool_geometry.h"
#include "device/kernel.h"

namespace plimsoll {

inline constexpr uint8_t kNoIndex = 255;
// Throws Error{invalid_argument} if the points of a window cannot be told apart by one byte.
void require_byte_index(std::string_view op, const PoolGeometry& g);

namespace highway {
bool pool_fits(const KernelQuery& q);  // no float64
Kernel prepare_max_pool(const KernelQuery& q);
Kernel prepare_max_pool_grad(const KernelQuery& q);
Kernel prepare_average_pool(const KernelQuery& q);
Kernel prepare_average_pool_grad(const KernelQuery& q);
}  // namespace highway

namespace reference {
Kernel prepare_max_pool(const KernelQuery& q);
Kernel prepare_max_pool_grad(const KernelQuery& q);
Kernel prepare_max_pool_take(const KernelQuery& q);
Kernel prepare_average_pool(const KernelQuery& q);
Kernel prepare_average_pool_grad(const KernelQuery& q);
}  // namespace reference

}  // namespace plimsoll
