#include "rnn_text.h"

#include <algorithm>

#include "mma_text.h"
#include "text.h"

namespace plimsoll::cuda {
int64_t RnnProduct::chunk() const { return std::min<int64_t>(512, (k + 7) / 8 * 8); }

int64_t RnnProduct::piece() const { return dtype != DType::f32 && k / kWarps % 32 == 0 ? 8 : 4; }

int64_t RnnProduct::shared_bytes() const {
  const int64_t exact = tensor_cores ? 0 : k * n + kRows * chunk();
  return 4 * (part_floats() + exact);
}

std::string RnnProduct::functions() const { return std::string(mma_functions()); }

std::string RnnProduct::prepare() const {
  std::string text = concat("DYNAMIC_SHARED(bytes);\nfloat* const part = (float*)bytes;\n",
                            "const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;\n");
  if (!tensor_cores)
    return text + concat("float* const slice = part + ", part_floats(), ";\nfloat* const staged = slice + ",
                         k * n, ";\nfor (int at = tid; at < ", k * n, "; at += ", kThreads,
                         ") {\nconst int64_t k = at / ", n, ", n = at % ", n,
                         ";\nslice[at] = ", load_element(weight, dtype), ";\n}\n__syncthreads();\n");
  // The order of k is ours to choose: the four threads that share a row read pieces beside each other, since
  // what they read comes in sectors of 32 bytes.
  const bool halves = dtype != DType::f32;
  const int64_t share = k / kWarps, steps = share / (halves ? 16 : 8), each = halves ? 4 : 2,
                in_piece = piece() / each;
  const std::string at = concat("warp * ", share, " + s / ", in_piece, " * ", 4 * piece(), " + lane_t * ",
                                piece(), " + s % ", in_piece, " * ", each);
  text +=
      concat("const int lane_g = lane / 4, lane_t = lane % 4;\nunsigned w[", steps, "][", n / 8,
             "][2];\n#pragma unroll\n", "for (int s = 0; s < ", steps,
             "; ++s) {\n#pragma unroll\nfor (int j = 0; j < ", n / 8,
             "; ++j) {\n#pragma unroll\nfor (int q = 0; q < 2; ++q) {\nconst int64_t n = j * 8 + lane_g;\n");
  if (halves)
    text += concat("unsigned low, high;\n{ const int64_t k = ", at, " + 2 * q;\nlow = ", weight,
                   "; }\n{ const int64_t k = ", at, " + 2 * q + 1;\nhigh = ", weight,
                   "; }\nw[s][j][q] = low | high << 16;\n");
  else
    text += concat("const int64_t k = ", at, " + q;\nw[s][j][q] = as_tf32(", weight, ");\n");
  return text + "}\n}\n}\n";
}

std::string RnnProduct::multiply(std::string_view rows, std::string_view stride) const {
  return tensor_cores ? multiply_tensor(rows, stride) : multiply_exact(rows, stride);
}

std::string RnnProduct::multiply_tensor(std::string_view rows, std::string_view stride) const {
  const bool halves = dtype != DType::f32;
  const int64_t share = k / kWarps, loads = share / (4 * piece()), in_piece = piece() / (halves ? 4 : 2);
  int64_t group = std::min<int64_t>(loads, 4);
  while (loads % group != 0) --group;
  const std::string type(halves ? "uint16_t" : "float"), read = halves && piece() == 4 ? "read_8" : "read_16";
  std::string text = concat(
      "{\nfloat acc[", n / 8, "][4] = {};\nconst ", type, "* const from = ", rows, " + warp * ", share,
      " + lane_t * ", piece(), ";\n#pragma unroll\nfor (int q0 = 0; q0 < ", loads, "; q0 += ", group,
      ") {\nunsigned x[2][", group, "][4] = {};\n#pragma unroll\nfor (int q = 0; q < ", group, "; ++q) {\n");
  for (int row = 0; row < 2; ++row)
    text += concat("if (lane_g + ", 8 * row, " < count) ", read, "(from + (int64_t)(lane_g + ", 8 * row,
                   ") * ", stride, " + ", 4 * piece(), " * (q0 + q), x[", row, "][q]);\n");
  text += concat(
      "}\n#pragma unroll\nfor (int q = 0; q < ", group, "; ++q) {\n#pragma unroll\nfor (int i = 0; i < ",
      in_piece,
      "; ++i) {\nunsigned a[4] = {x[0][q][2 * i], x[1][q][2 * i], x[0][q][2 * i + 1], x[1][q][2 * i + 1]};\n",
      halves ? "" : "#pragma unroll\nfor (int e = 0; e < 4; ++e) a[e] = as_tf32(__uint_as_float(a[e]));\n",
      "#pragma unroll\nfor (int j = 0; j < ", n / 8, "; ++j) mma_", source_type(dtype).suffix,
      "(acc[j], a, w[(q0 + q) * ", in_piece, " + i][j]);\n}\n");
  text += concat("}\n}\n#pragma unroll\nfor (int j = 0; j < ", n / 8,
                 "; ++j) {\nfloat* const to = part + (warp * ", kRows, " + lane_g) * ", part_stride(),
                 " + j * 8 + 2 * lane_t;\nto[0] = acc[j][0];\nto[1] = acc[j][1];\nto[", 8 * part_stride(),
                 "] = acc[j][2];\nto[", 8 * part_stride() + 1, "] = acc[j][3];\n}\n}\n__syncthreads();\n");
  return text;
}

// A thread has four rows and n / 8 columns.
std::string RnnProduct::multiply_exact(std::string_view rows, std::string_view stride) const {
  const int64_t size = chunk(), share = size / kWarps, columns = n / 8;
  const std::string value = concat("read_f32(", rows, " + (int64_t)row * ", stride, " + k0 + c)");
  return concat(
      "{\nfloat acc[4][", columns, "] = {};\nfor (int k0 = 0; k0 < ", k, "; k0 += ", size,
      ") {\n__syncthreads();\nfor (int at = tid; at < ", kRows * size, "; at += ", kThreads,
      ") {\nconst int row = at / ", size, ", c = at % ", size, ";\nstaged[at] = row < count && k0 + c < ", k,
      " ? ", value, " : 0;\n}\n__syncthreads();\nfor (int c = warp * ", share, "; c < (warp + 1) * ", share,
      "; ++c) {\nif (k0 + c >= ", k,
      ") break;\n#pragma unroll\nfor (int i = 0; i < 4; ++i) {\nconst float x = staged[(lane / 8 * 4 + i) * ",
      size, " + c];\n#pragma unroll\nfor (int j = 0; j < ", columns,
      "; ++j) acc[i][j] += x * slice[(k0 + c) * ", n,
      " + lane % 8 + 8 * j];\n}\n}\n}\n#pragma unroll\nfor (int i = 0; i < 4; ++i)\n#pragma unroll\nfor (int "
      "j = 0; j < ",
      columns, "; ++j) part[(warp * ", kRows, " + lane / 8 * 4 + i) * ", part_stride(),
      " + lane % 8 + 8 * j] = acc[i][j];\n}\n__syncthreads();\n");
}

std::string RnnProduct::sum(std::string_view row, std::string_view column) const {
  std::string text = "(";
  for (int64_t w = 0; w < kWarps; ++w)
    text +=
        concat(w ? " + " : "", "part[(", w * kRows, " + ", row, ") * ", part_stride(), " + ", column, "]");
  return text + ")";
}

std::string blocks_meet(std::string_view at, int64_t blocks, std::string_view round) {
  return concat("__syncthreads();\nif (tid == 0) {\nadd_release(", at, ");\nwhile (read_acquire(", at, ") < ",
                blocks, "u * (unsigned)(", round, ")) {}\n}\n__syncthreads();\n");
}

}  // namespace plimsoll::cuda
