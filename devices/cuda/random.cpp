// Random numbers by Philox 4x32-10 (Salmon et al., SC 2011), with the bits of every other device. Word w of a
// key is lane w % 4 of block w / 4. Elements of 32 bits and less take word i, those of 64 bits words 2i and
// 2i + 1; two normal numbers take the words of two uniform ones. Only plain sums and products in one order
// are used, of the type of the result, and kernels are compiled without contraction.
#include <cmath>

#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr std::string_view kPhilox = R"(
#ifndef PLIMSOLL_PHILOX
#define PLIMSOLL_PHILOX
struct philox4 { uint32_t c[4]; };
static __device__ philox4 philox(const uint32_t* key, uint64_t block) {
  philox4 p = {{(uint32_t)block, (uint32_t)(block >> 32), 0, 0}};
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = (uint64_t)0xD2511F53u * p.c[0], b = (uint64_t)0xCD9E8D57u * p.c[2];
    p = {{(uint32_t)(b >> 32) ^ p.c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ p.c[3] ^ k1, (uint32_t)a}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return p;
}
static __device__ uint32_t philox_word(const uint32_t* key, uint64_t w) { return philox(key, w / 4).c[w % 4]; }
static __device__ uint64_t philox_53(const uint32_t* key, uint64_t i) {
  return ((uint64_t)philox_word(key, 2 * i) << 21) + (philox_word(key, 2 * i + 1) >> 11);
}
#define SERIES(T, x, c, y) \
  T y = (T)c[sizeof c / sizeof *c - 1]; \
  for (int i_ = sizeof c / sizeof *c - 1; i_ > 0; --i_) y = y * x + (T)c[i_ - 1];
// Two normal numbers from u in (0, 1] and v in [0, 1), by Box and Muller.
#define NORMALS(T, I, U, name, kMantissa, square_root, bits_of, of_bits)      \
  static __device__ T log_of_##name(T u) {                                    \
    const T root = (T)0.70710678118654752;                                    \
    I bits = (I)bits_of(u), middle = (I)bits_of(root);                        \
    const I e = (bits - middle) >> kMantissa;                                 \
    bits -= (I)((U)e << kMantissa);                                           \
    const T m = of_bits(bits);                                                \
    const T z = (m - 1) / (m + 1), s = z * z;                                 \
    SERIES(T, s, log_##name, p)                                               \
    return (T)e * (T)0.69314718055994531 + (z * s * p + (z + z));             \
  }                                                                           \
  static __device__ T normal_##name(T u, T v, bool second) {                  \
    const T radius = square_root((T)-2 * log_of_##name(u)), turns = v * 4;    \
    const int quarter = (int)(turns + (T)0.5);                                \
    const T x = (turns - (T)quarter) * (T)1.5707963267948966, s = x * x;      \
    SERIES(T, s, sine_##name, p)                                              \
    SERIES(T, s, cosine_##name, q)                                            \
    const T sine = x + x * s * p, cosine = q, c = quarter & 1 ? sine : cosine,\
            d = quarter & 1 ? cosine : sine;                                  \
    return second ? radius * (quarter & 2 ? -d : d) : radius * ((quarter + 1) & 2 ? -c : c); \
  }
static __device__ const double log_float[] = {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11};
static __device__ const double sine_float[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
static __device__ const double cosine_float[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};
static __device__ const double log_double[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                               2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
static __device__ const double sine_double[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                                1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
static __device__ const double cosine_double[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                                                  1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
NORMALS(float, int32_t, uint32_t, float, 23, sqrtf, __float_as_int, __int_as_float)
NORMALS(double, int64_t, uint64_t, double, 52, sqrt, __double_as_longlong, __longlong_as_double)
#endif
)";

// One element at a time: `value` is its text, `i` its number.
void each_random(Build& b, const std::string& value) {
  const Type out = b.node.out(0);
  if (out.count() == 0) return;
  const int64_t blocks =
      std::min<int64_t>((out.count() + 255) / 256, 16 * std::max(1, b.device.multiprocessors));
  b.launch(
      std::string(b.node.op()),
      concat(kPhilox, each_text(parameters({"uint32_t", stored(out.dtype)}, 1), out.count(), out.count(), 256,
                                concat("const uint64_t i = at;\narg1[at] = ", store_element(value, out.dtype),
                                       ";\n"))),
      blocks, 256, {b.in(0), b.out(0)});
}

void random_bits(Build& b) { each_random(b, "philox_word(arg0, i)"); }

// The key of a use: the first two words of the block with the number of the use as counter.
void fold_in(Build& b) {
  b.launch(
      "fold_in",
      concat(
          kPhilox,
          "extern \"C\" __global__ void KERNEL(const uint32_t* key, const uint32_t* use, uint32_t* to) {\n",
          "const philox4 p = philox(key, *use);\nto[0] = p.c[0];\nto[1] = p.c[1];\n}\n"),
      1, 1, {b.in(0), b.in(1), b.out(0)});
}

// As many bits as the type holds exactly: a rounded fraction could become 1.
std::string uniform_float(DType t, double low, double high) {
  const int bits = t == DType::f16 ? 11 : t == DType::bf16 ? 8 : 24;
  const auto text = [](float x) { return element_literal(&x, DType::f32); };
  const float from = static_cast<float>(low), most = std::nextafterf(static_cast<float>(high), from);
  const std::string value = concat("(", text(from), " + ", text(static_cast<float>(high - low)),
                                   " * ((float)(int)(philox_word(arg0, i) >> ", 32 - bits, ") * ",
                                   text(1.0f / static_cast<float>(1 << bits)), "))");
  if (bits < 24) return value;
  return concat("(", value, " < ", text(most), " ? ", value, " : ", text(most), ")");
}

std::string uniform_double(double low, double high) {
  const auto text = [](double x) { return element_literal(&x, DType::f64); };
  const std::string value = concat("(", text(low), " + ", text(high - low),
                                   " * ((double)philox_53(arg0, i) * ", text(0x1p-53), "))");
  const std::string most = text(std::nextafter(high, low));
  return concat("(", value, " < ", most, " ? ", value, " : ", most, ")");
}

// low + word x range / 2^32, or 2^64 for the types of 64 bits: as even as the bits can be.
std::string uniform_int(DType t, double low, double high) {
  const uint64_t range = static_cast<uint64_t>(high - low),
                 from = static_cast<uint64_t>(static_cast<int64_t>(low));
  const std::string word =
      size_of(t) < 8
          ? concat("(philox_word(arg0, i) * ", range, "ULL >> 32)")
          : concat("__umul64hi(((uint64_t)philox_word(arg0, 2 * i) << 32) + philox_word(arg0, 2 * i + 1), ",
                   range, "ULL)");
  return concat("(", stored(t), ")(", from, "ULL + ", word, ")");
}

void random_uniform(Build& b) {
  const DType t = b.node.out(0).dtype;
  const double low = b.node.real("low"), high = b.node.real("high");
  each_random(b, !is_float(t)      ? uniform_int(t, low, high)
                 : t == DType::f64 ? uniform_double(low, high)
                                   : uniform_float(t, low, high));
}

void random_normal(Build& b) {
  const DType t = b.node.out(0).dtype;
  const double mean = b.node.real("mean"), deviation = b.node.real("stddev");
  if (t == DType::f64) {
    each_random(b,
                concat("(", element_literal(&mean, t), " + ", element_literal(&deviation, t),
                       " * normal_double((double)(philox_53(arg0, i & ~1ULL) + 1) * 1.1102230246251565e-16, "
                       "(double)philox_53(arg0, i | 1) * 1.1102230246251565e-16, i & 1))"));
    return;
  }
  const float m = static_cast<float>(mean), d = static_cast<float>(deviation);
  each_random(
      b,
      concat(
          "(", element_literal(&m, DType::f32), " + ", element_literal(&d, DType::f32),
          " * normal_float((float)((int)(philox_word(arg0, i & ~1ULL) >> 8) + 1) * 5.9604644775390625e-8f, "
          "(float)(int)(philox_word(arg0, i | 1) >> 8) * 5.9604644775390625e-8f, i & 1))"));
}

}  // namespace

std::span<const Op> random_ops() {
  static const Op ops[] = {
      {.name = "random_bits", .lower = random_bits},
      {.name = "random_uniform", .lower = random_uniform},
      {.name = "random_normal", .lower = random_normal},
      {.name = "fold_in", .lower = fold_in},
  };
  return ops;
}

}  // namespace plimsoll::cuda
