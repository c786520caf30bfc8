#include "row_text.h"

#include <algorithm>

#include "text.h"

namespace plimsoll::cuda {

RowText::RowText(int64_t rows, int64_t n, DType dtype, size_t largest)
    : rows_(rows),
      n_(n),
      dtype_(computed_type(dtype)),
      threads_(n <= kMostWarp ? 32 : 256),
      rows_per_block_(n <= kMostWarp ? 4 : 1) {
  width_ = static_cast<int64_t>(16 / largest);
  while (width_ > 1 && (n % width_ != 0 || n < width_ * threads_ / 2)) width_ /= 2;
  steps_ = (n + threads_ * width_ - 1) / (threads_ * width_);
}

std::string_view RowText::type() const { return source_type(dtype_).name; }

// Runs `body` for each vector of the thread: number p, first column `first`.
std::string RowText::columns(std::string_view body) const {
  const bool whole = n_ % (threads_ * width_) == 0;
  return concat("#pragma unroll\nfor (int p = 0; p < ", steps_, "; ++p) {\nconst int first = (p * ", threads_,
                " + lane) * ", width_, ";\n", whole ? "" : concat("if (first >= ", n_, ") continue;\n"), body,
                "}\n");
}

std::string RowText::each(std::string_view body) const {
  return columns(concat("#pragma unroll\nfor (int j = 0; j < ", width_, "; ++j) {\nconst int i = p * ",
                        width_, " + j, c = first + j;\n(void)c;\n", body, "}\n"));
}

std::string RowText::read_at(std::string_view name, size_t argument, DType t, std::string_view base) const {
  return concat(type(), " ", name, "[", steps_ * width_, "];\n{\nstruct alignas(", width_, " * sizeof(",
                stored(t), ")) V { ", stored(t), " at[", width_, "]; };\n",
                columns(concat("const V v = *(const V*)(arg", argument, base,
                               " + first);\n#pragma unroll\nfor (int j = 0; j < ", width_, "; ++j) ", name,
                               "[p * ", width_, " + j] = (", type(), ")", load_element("v.at[j]", t), ";\n")),
                "}\n");
}
std::string RowText::read(std::string_view name, size_t argument, DType t) const {
  return read_at(name, argument, t, concat(" + row * ", n_));
}
std::string RowText::read_shared(std::string_view name, size_t argument, DType t) const {
  return read_at(name, argument, t, "");
}

std::string RowText::fold(std::string_view name, std::string_view start, std::string_view value,
                          std::string_view combine) const {
  std::string text = concat(
      type(), " ", name, " = ", start, ";\n",
      each(concat("const ", type(), " a = ", name, ", b = ", value, ";\n", name, " = ", combine, ";\n")),
      "for (int m = 16; m > 0; m /= 2) {\nconst ", type(), " a = ", name,
      ", b = __shfl_xor_sync(0xFFFFFFFFu, ", name, ", m);\n", name, " = ", combine, ";\n}\n");
  if (threads_ > 32)
    text += concat("__syncthreads();\nif (lane % 32 == 0) part[lane / 32] = ", name, ";\n__syncthreads();\n",
                   name, " = part[0];\nfor (int w = 1; w < ", threads_ / 32, "; ++w) {\nconst ", type(),
                   " a = ", name, ", b = part[w];\n", name, " = ", combine, ";\n}\n");
  return text;
}

std::string RowText::write(size_t argument, DType t, std::string_view value) const {
  return concat(
      "{\nstruct alignas(", width_, " * sizeof(", stored(t), ")) V { ", stored(t), " at[", width_, "]; };\n",
      columns(concat("V v;\n#pragma unroll\nfor (int j = 0; j < ", width_, "; ++j) {\nconst int i = p * ",
                     width_, " + j, c = first + j;\n(void)c;\nv.at[j] = ",
                     store_element(concat("(", computed(t), ")(", value, ")"), t), ";\n}\n*(V*)(arg",
                     argument, " + row * ", n_, " + first) = v;\n")),
      "}\n");
}
std::string RowText::write_one(size_t argument, DType t, std::string_view value) const {
  return concat("if (lane == 0) arg", argument,
                "[row] = ", store_element(concat("(", computed(t), ")(", value, ")"), t), ";\n");
}

void RowText::launch(Build& b, const std::vector<DType>& types, size_t outputs, std::string_view body,
                     std::vector<Ref> args) const {
  std::vector<std::string_view> names;
  for (const DType t : types) names.push_back(stored(t));
  const int64_t threads = threads_ * rows_per_block_;
  const std::string text = concat(
      "extern \"C\" __global__ void __launch_bounds__(", threads, ") KERNEL(", parameters(names, outputs),
      ") {\n", threads_ > 32 ? concat("__shared__ ", type(), " part[", threads_ / 32, "];\n") : "",
      "const int lane = threadIdx.x % ", threads_, ";\nconst int64_t row = (int64_t)blockIdx.x * ",
      rows_per_block_, " + threadIdx.x / ", threads_, ";\nif (row >= ", rows_, ") return;\n", body, "}\n");
  b.launch(std::string(b.node.op()), text, (rows_ + rows_per_block_ - 1) / rows_per_block_,
           static_cast<int>(threads), std::move(args));
}

}  // namespace plimsoll::cuda
