// Ops that move elements: each output is the input, seen with other strides.
#include <algorithm>

#include "chain.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// How a box of elements lies in a tensor: the place of its first one, and the steps along each axis.
struct View {
  int64_t start = 0;
  Sizes strides;
};

View whole(const Type& t) { return {0, row_major(t.sizes)}; }

// Copies a box of these sizes from one view to another.
void copy_box(Build& b, const Sizes& sizes, DType dtype, Ref to, const View& at, Ref from, const View& seen) {
  if (product(sizes) == 0) return;
  Space space{sizes, {at.strides, seen.strides}};
  space.join();
  const Sizes one = {1};
  const bool plain =
      space.sizes.empty() || (space.sizes.size() == 1 && space.strides[0] == one && space.strides[1] == one);
  const int64_t size = static_cast<int64_t>(size_of(dtype));
  if (plain) {
    to.offset += at.start * size;
    from.offset += seen.start * size;
    b.copy(to, from, space.count() * size);
    return;
  }
  const std::string body =
      concat(coordinates(space.sizes, "at", "index"), "arg1[", position(at.start, space.strides[0]),
             "] = arg0[", position(seen.start, space.strides[1]), "];\n");
  b.each(parameters({moved(dtype), moved(dtype)}, 1), space.count(), body, {from, to});
}

void fill_output(Build& b, const View& seen) {
  const Type out = b.node.out(0);
  copy_box(b, out.sizes, out.dtype, b.out(0), whole(out), b.in(0), seen);
}

void broadcast_to(Build& b) {
  fill_output(b, {0, broadcast_strides(b.node.in(0).sizes, b.node.out(0).sizes)});
}

// A tile of 32 by 32 elements goes through shared memory, so that both sides are read and written in rows.
void transpose_matrices(Build& b, int64_t batch, int64_t rows, int64_t columns) {
  const DType t = b.node.out(0).dtype;
  const int64_t across = (columns + 31) / 32, down = (rows + 31) / 32;
  const std::string text = concat(
      "extern \"C\" __global__ void __launch_bounds__(256) KERNEL(", parameters({moved(t), moved(t)}, 1),
      ") {\n", "__shared__ ", moved(t), " tile[32][33];\nconst int64_t block = blockIdx.x;\n",
      "const int64_t matrix = block / ", across * down, " * ", rows * columns,
      ";\nconst int64_t c0 = block % ", across, " * 32, r0 = block / ", across, " % ", down, " * 32;\n",
      "const int x = threadIdx.x % 32, y = threadIdx.x / 32;\n",
      "for (int k = y; k < 32; k += 8)\n  if (r0 + k < ", rows, " && c0 + x < ", columns,
      ") tile[k][x] = arg0[matrix + (r0 + k) * ", columns, " + c0 + x];\n__syncthreads();\n",
      "for (int k = y; k < 32; k += 8)\n  if (c0 + k < ", columns, " && r0 + x < ", rows,
      ") arg1[matrix + (c0 + k) * ", rows, " + r0 + x] = tile[x][k];\n}\n");
  b.launch("transpose", text, batch * across * down, 256, {b.in(0), b.out(0)});
}

void transpose(Build& b) {
  const Type in = b.node.in(0), out = b.node.out(0);
  const Sizes own = row_major(in.sizes);
  View seen = whole(in);
  for (size_t i = 0; i < own.size(); ++i)
    seen.strides[i] = own[axis_of(b.node.item("permutation", i, static_cast<int64_t>(i)), in.rank())];
  Space space{out.sizes, {seen.strides}};
  space.strides.push_back(row_major(out.sizes));
  space.join();
  const Sizes& s = space.strides[0];
  const size_t n = space.sizes.size();
  const bool matrices = (n == 2 || (n == 3 && s[0] == space.sizes[1] * space.sizes[2])) && s[n - 2] == 1 &&
                        s[n - 1] == space.sizes[n - 2];
  if (matrices && size_of(out.dtype) <= 8 && out.count() > 1024)
    transpose_matrices(b, n == 3 ? space.sizes[0] : 1, space.sizes[n - 1], space.sizes[n - 2]);
  else
    fill_output(b, seen);
}

void slice(Build& b) {
  View seen = whole(b.node.in(0));
  for (size_t i = 0; i < seen.strides.size(); ++i) {
    seen.start += b.node.item("starts", i, 0) * seen.strides[i];
    seen.strides[i] *= b.node.item("strides", i, 1);
  }
  fill_output(b, seen);
}

void reverse(Build& b) {
  const Type in = b.node.in(0);
  View seen = whole(in);
  for (const int64_t named : b.node.ints("axes")) {
    const size_t axis = axis_of(named, in.rank());
    if (seen.strides[axis] < 0) continue;  // named twice
    seen.start += (in.sizes[axis] - 1) * seen.strides[axis];
    seen.strides[axis] = -seen.strides[axis];
  }
  fill_output(b, seen);
}

void concatenate(Build& b) {
  const Type out = b.node.out(0);
  const size_t axis = axis_of(b.node.integer("axis"), out.rank());
  View at = whole(out);
  for (size_t i = 0; i < b.node.input_count(); ++i) {
    const Type part = b.node.in(i);
    copy_box(b, part.sizes, out.dtype, b.out(0), at, b.in(i), whole(part));
    at.start += part.sizes[axis] * at.strides[axis];
  }
}

// Elements before, after and between those of the input; negative numbers before and after cut off.
void pad(Build& b) {
  const Type in = b.node.in(0), out = b.node.out(0);
  if (out.count() == 0) return;
  std::string body = coordinates(out.sizes, "at", "index"), inside = "true", from = "0";
  const Sizes own = row_major(in.sizes);
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t step = b.node.item("interior", i, 0) + 1;
    body += concat("const int64_t t", i, " = (int64_t)i", i, " - ", b.node.item("low", i, 0), ";\n");
    inside += concat(" && t", i, " >= 0 && t", i, " < ", in.sizes[i] * step);
    if (step > 1) inside += concat(" && t", i, " % ", step, " == 0");
    from += concat(" + t", i, " / ", step, " * ", own[i]);
  }
  const std::string value = store_element(
      concat("(", computed(out.dtype), ")", literal(b.node.real("value"), out.dtype)), out.dtype);
  body += concat("arg1[at] = ", inside, " ? arg0[", from, "] : (", stored(out.dtype), ")", value, ";\n");
  b.each(parameters({stored(in.dtype), stored(out.dtype)}, 1), out.count(), body, {b.in(0), b.out(0)});
}

// Declares `start`: where a window of these sizes begins in x, clamped so that it lies inside.
std::string window_start(const Type& x, const Sizes& sizes, std::string_view starts) {
  const Sizes own = row_major(x.sizes);
  std::string text = "int64_t start = 0;\n";
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t last = x.sizes[i] - sizes[i];
    text += concat("{ const int64_t w = (int64_t)", starts, "[", i, "]; start += (w < 0 ? 0 : w > ", last,
                   " ? ", last, " : w) * ", own[i], "; }\n");
  }
  return text;
}

void dynamic_slice(Build& b) {
  const Type x = b.node.in(0), starts = b.node.in(1), out = b.node.out(0);
  if (out.count() == 0) return;
  const std::string body = concat(coordinates(out.sizes, "at", "index"), window_start(x, out.sizes, "arg1"),
                                  "arg2[at] = arg0[start + ", position(0, row_major(x.sizes)), "];\n");
  b.each(parameters({moved(x.dtype), stored(starts.dtype), moved(x.dtype)}, 2), out.count(), body,
         {b.in(0), b.in(1), b.out(0)});
}

void dynamic_update_slice(Build& b) {
  const Type x = b.node.in(0), update = b.node.in(1), starts = b.node.in(2);
  b.copy(b.out(0), b.in(0), x.bytes());
  if (update.count() == 0) return;
  const std::string body =
      concat(coordinates(update.sizes, "at", "index"), window_start(x, update.sizes, "arg1"), "arg2[start + ",
             position(0, row_major(x.sizes)), "] = arg0[at];\n");
  b.each(parameters({moved(x.dtype), stored(starts.dtype), moved(x.dtype)}, 2), update.count(), body,
         {b.in(1), b.in(2), b.out(0)});
}

// x, but not before the other input is there: the order of a plan sees to that.
void after(Build& b) { b.copy(b.out(0), b.in(0), b.node.in(0).bytes()); }

void iota(Build& b) {
  const Type out = b.node.out(0);
  const size_t axis = axis_of(b.node.integer("axis"), out.rank());
  const std::string value = concat("(", computed(out.dtype), ")i", axis);
  b.each(parameters({stored(out.dtype)}, 0), out.count(),
         concat(coordinates(out.sizes, "at", "index"), "arg0[at] = ", store_element(value, out.dtype), ";\n"),
         {b.out(0)});
}

}  // namespace

std::span<const Op> move_ops() {
  static const Op ops[] = {
      {.name = "broadcast_to", .lower = broadcast_to, .fuses = PLIMSOLL_FUSE_MAP, .moves = true},
      {.name = "transpose", .lower = transpose, .moves = true},
      {.name = "slice", .lower = slice, .moves = true},
      {.name = "reverse", .lower = reverse, .moves = true},
      {.name = "concatenate", .lower = concatenate, .moves = true},
      {.name = "pad", .lower = pad},
      {.name = "dynamic_slice", .lower = dynamic_slice, .moves = true},
      {.name = "dynamic_update_slice",
       .lower = dynamic_update_slice,
       .overlap = Op::Overlap::first,
       .moves = true},
      {.name = "after", .lower = after, .overlap = Op::Overlap::first, .moves = true},
      {.name = "iota", .lower = iota},
  };
  return ops;
}

}  // namespace plimsoll::cuda
