// The contents of a concrete tensor, without a pointer to write with. Once Tensor::data() has given one out
// it may be used at any time, so programs that read the tensor look at its bytes anew in every run; as long
// as only these are used, they keep what they have made of them (weights in the layout of a kernel) until the
// contents change.
#pragma once

#include <functional>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Throw Error{invalid_argument} on a tensor that is not concrete; assign() too if the types differ.
const void* read_bytes(const Tensor& tensor);
// The elements in row-major order: to_vector<float>(y). Throws if T is not the dtype.
template <class T>
std::vector<T> to_vector(const Tensor& tensor);
void assign(const Tensor& to, const Tensor& from);
// Calls fill(bytes) to write the contents in place. The pointer is dead once fill has returned or thrown.
void write_bytes(const Tensor& to, const std::function<void(void* bytes)>& fill);

}  // namespace plimsoll
#pragma GCC visibility pop
