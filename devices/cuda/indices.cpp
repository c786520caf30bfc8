// Rows picked and put by integers: take, gather_nd, scatter_nd.
#include "chain.h"
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

int64_t product_of(const Sizes& sizes, size_t begin, size_t end) {
  return product(
      Sizes(sizes.begin() + static_cast<ptrdiff_t>(begin), sizes.begin() + static_cast<ptrdiff_t>(end)));
}

// Negative indices count from the end; what is still outside is clamped.
std::string wrapped(std::string_view name, std::string_view index, int64_t size) {
  return concat("int64_t ", name, " = (int64_t)", index, ";\n", "if (", name, " < 0) ", name, " = ", name,
                " < -", size, "LL ? 0 : ", name, " + ", size, ";\n", "if (", name, " >= ", size, ") ", name,
                " = ", size - 1, ";\n");
}

void take(Build& b) {
  const Type x = b.node.in(0), indices = b.node.in(1), out = b.node.out(0);
  if (out.count() == 0) return;
  const size_t axis = axis_of(b.node.integer("axis"), x.rank());
  const int64_t size = x.sizes[axis], row = product_of(x.sizes, axis + 1, x.sizes.size());
  const std::string body =
      concat("const index k = at % ", row, ", r = at / ", row, ";\n",
             wrapped("i", concat("arg1[r % ", indices.count(), "]"), size), "arg2[at] = arg0[((int64_t)(r / ",
             indices.count(), ") * ", size, " + i) * ", row, " + k];\n");
  b.each(parameters({moved(x.dtype), stored(indices.dtype), moved(x.dtype)}, 2), out.count(), body,
         {b.in(0), b.in(1), b.out(0)});
}

void gather_nd(Build& b) {
  const Type x = b.node.in(0), indices = b.node.in(1), out = b.node.out(0);
  if (out.count() == 0) return;
  const size_t columns = static_cast<size_t>(indices.sizes.back());
  const int64_t row = product_of(x.sizes, columns, x.sizes.size());
  std::string body = concat("const index k = at % ", row, ", r = at / ", row, ";\nint64_t from = 0;\n");
  for (size_t i = 0; i < columns; ++i)
    body += concat(wrapped(concat("c", i), concat("arg1[r * ", columns, " + ", i, "]"), x.sizes[i]),
                   "from = from * ", x.sizes[i], " + c", i, ";\n");
  body += concat("arg2[at] = arg0[from * ", row, " + k];\n");
  b.each(parameters({moved(x.dtype), stored(indices.dtype), moved(x.dtype)}, 2), out.count(), body,
         {b.in(0), b.in(1), b.out(0)});
}

// How an update is combined with what is there, in the type it is computed in.
std::string combined(std::string_view mode, DType t) {
  const std::string operands[] = {"kept", "update"};
  const bool real = is_float(t);
  if (mode == "set") return "update";
  std::string_view meaning;
  if (t == DType::boolean)
    meaning = mode == "add" || mode == "max" ? "a | b" : "a & b";
  else if (mode == "add")
    meaning = real ? "a + b" : "add(a, b)";
  else if (mode == "mul")
    meaning = real ? "a * b" : "mul(a, b)";
  else if (mode == "min")
    meaning = real ? "isnan(b) || b < a ? b : a" : "b < a ? b : a";
  else
    meaning = real ? "isnan(b) || b > a ? b : a" : "b > a ? b : a";
  return element_expression(meaning, operands, computed_type(t));
}

// x with rows combined in, one after the other. Rows that go to the same place are linked in their order, and
// the first of them combines them all: the result is the same in every run. Scratch: the place of each row,
// -1 outside; the next row of the same place, with the first one marked.
void scatter_nd(Build& b) {
  const Type x = b.node.in(0), indices = b.node.in(1), updates = b.node.in(2);
  const size_t columns = static_cast<size_t>(indices.sizes.back());
  const int64_t rows = product_of(indices.sizes, 0, indices.sizes.size() - 1);
  const int64_t row = product_of(x.sizes, columns, x.sizes.size());
  b.copy(b.out(0), b.in(0), x.bytes());
  if (rows == 0 || row == 0 || x.count() == 0) return;
  const Ref places = b.scratch(8 * rows), links = b.scratch(8 * rows);

  std::string place = "int64_t to = 0;\nbool inside = true;\n";
  for (size_t i = 0; i < columns; ++i)
    place +=
        concat("{ const int64_t c = (int64_t)arg0[at * ", columns, " + ", i,
               "];\ninside = inside && c >= 0 && c < ", x.sizes[i], ";\nto = to * ", x.sizes[i], " + c; }\n");
  b.each(parameters({stored(indices.dtype), "int64_t"}, 1), rows,
         concat(place, "arg1[at] = inside ? to : -1;\n"), {b.in(1), places});

  const std::string link = concat(
      "extern \"C\" __global__ void __launch_bounds__(128) KERNEL(const int64_t* arg0, int64_t* arg1) {\n",
      "const int64_t r = blockIdx.x, mine = arg0[r];\n__shared__ unsigned long long next;\n",
      "if (threadIdx.x == 0) next = ", rows, ";\nbool earlier = false;\n",
      "for (int64_t q = threadIdx.x; q < r; q += 128) earlier = earlier || arg0[q] == mine;\n",
      "if (__syncthreads_or(earlier)) earlier = true;\n", "for (int64_t base = r + 1; base < ", rows,
      "; base += 128) {\nconst int64_t q = base + threadIdx.x;\n", "const bool same = q < ", rows,
      " && arg0[q] == mine;\nif (same) atomicMin(&next, (unsigned long long)q);\n",
      "if (__syncthreads_or(same)) break;\n}\n__syncthreads();\n",
      "if (threadIdx.x == 0) arg1[r] = mine < 0 ? 0 : (int64_t)next * 2 + (earlier ? 0 : 1);\n}\n");
  b.launch("scatter_nd links", link, rows, 128, {places, links});

  const DType t = x.dtype;
  const std::string body =
      concat("const int64_t k = at % ", row, ";\nint64_t r = at / ", row, ";\n",
             "const int64_t first = arg1[r];\n", "if (!(first & 1)) continue;\nconst int64_t to = arg0[r] * ",
             row, " + k;\n", computed(t), " kept = ", load_element("arg3[to]", t), ";\nwhile (r < ", rows,
             ") {\nconst ", computed(t), " update = ", load_element(concat("arg2[r * ", row, " + k]"), t),
             ";\nkept = ", combined(b.node.string("mode"), t),
             ";\nr = arg1[r] / 2;\n}\narg3[to] = ", store_element("kept", t), ";\n");
  b.each(
      concat("const int64_t* arg0, const int64_t* arg1, const ", stored(t), "* arg2, ", stored(t), "* arg3"),
      rows * row, body, {places, links, b.in(2), b.out(0)});
}

}  // namespace

std::span<const Op> index_ops() {
  static const Op ops[] = {
      {.name = "take", .lower = take, .moves = true},
      {.name = "gather_nd", .lower = gather_nd, .moves = true},
      {.name = "scatter_nd", .lower = scatter_nd, .overlap = Op::Overlap::first},
  };
  return ops;
}

}  // namespace plimsoll::cuda
