/* Random numbers by Philox 4x32-10 (Salmon et al., SC 2011): the same bits as on every device, so that a
 * model draws the same dropout masks everywhere. Word w of a key is lane w % 4 of block w / 4. Elements of 32
 * bits and less take word i, those of 64 bits words 2i and 2i + 1; two normal numbers take the words of two
 * uniform ones. Only plain sums and products in one order are used, of the type of the result: compile
 * without contraction (-ffp-contract=off). */
#include <math.h>
#include <string.h>

#include "element.h"

static void philox_block(const uint32_t* key, uint64_t block, uint32_t* out) {
  uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0}, k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
    c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)q;
    c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)p;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  memcpy(out, c, sizeof c);
}

static uint32_t word(const call* c, int64_t w) {
  uint32_t block[4];
  philox_block((const uint32_t*)input(c, 0)->data, (uint64_t)w / 4, block);
  return block[w % 4];
}
/* The 53 random bits of a double. */
static uint64_t long_word(const call* c, int64_t i) {
  return ((uint64_t)word(c, 2 * i) << 21) + (word(c, 2 * i + 1) >> 11);
}

static void random_bits(const call* c) {
  const tensor* out = output(c, 0);
  for (int64_t i = 0; i < out->count; ++i) put_int(out, i, word(c, i));
}

/* The key of a use: the first two words of the block with the number of the use as counter. */
static void fold_in(const call* c) {
  uint32_t block[4];
  philox_block((const uint32_t*)input(c, 0)->data, *(const uint32_t*)input(c, 1)->data, block);
  memcpy(output(c, 0)->data, block, 8);
}

/* As many bits as the type holds exactly: a rounded fraction could become 1. */
static float uniform_float(uint32_t w, int32_t dtype, double from, double to) {
  const int bits = dtype == PLIMSOLL_F16 ? 11 : dtype == PLIMSOLL_BF16 ? 8 : 24;
  const float low = (float)from, width = (float)(to - from), most = nextafterf((float)to, low);
  const float u = (float)(int32_t)(w >> (32 - bits)) * (1.0f / (float)(1 << bits));
  const float v = low + width * u;
  return v < most || bits < 24 ? v : most;
}
static double uniform_double(uint64_t bits, double from, double to) {
  const double most = nextafter(to, from), v = from + (to - from) * ((double)bits * 0x1p-53);
  return v < most ? v : most;
}

/* (a * b) >> 64 */
static uint64_t product_high(uint64_t a, uint64_t b) {
  const uint64_t low = (uint32_t)a * (uint64_t)(uint32_t)b, one = (a >> 32) * (uint32_t)b,
                 two = (uint32_t)a * (b >> 32);
  const uint64_t middle = (low >> 32) + (uint32_t)one + (uint32_t)two;
  return (a >> 32) * (b >> 32) + (one >> 32) + (two >> 32) + (middle >> 32);
}
/* low + word x range / 2^32, or 2^64 for the types of 64 bits: as even as the bits can be. */
static int64_t uniform_int(const call* c, int64_t i, double from, double to) {
  const uint64_t range = (uint64_t)(to - from), low = (uint64_t)(int64_t)from;
  if (dtype_size(output(c, 0)->dtype) < 8) return (int64_t)(low + (word(c, i) * range >> 32));
  return (int64_t)(low + product_high(((uint64_t)word(c, 2 * i) << 32) + word(c, 2 * i + 1), range));
}

static void random_uniform(const call* c) {
  const tensor* out = output(c, 0);
  const double low = attr_real(c->node, "low"), high = attr_real(c->node, "high");
  for (int64_t i = 0; i < out->count; ++i) {
    if (!is_float(out->dtype))
      put_int(out, i, uniform_int(c, i, low, high));
    else if (out->dtype == PLIMSOLL_F64)
      put_real(out, i, uniform_double(long_word(c, i), low, high));
    else
      put_real(out, i, uniform_float(word(c, i), out->dtype, low, high));
  }
}

/* Two normal numbers from u in (0, 1] and v in [0, 1), by Box and Muller, for float and for double. The
 * series of the logarithm, sine and cosine are written out for each because every rounding counts. */
#define SERIES(T, x, c, y)              \
  T y = (T)c[sizeof c / sizeof *c - 1]; \
  for (size_t i_ = sizeof c / sizeof *c - 1; i_ > 0; --i_) y = y * x + (T)c[i_ - 1];

#define NORMALS(T, I, U, name, kMantissa, square_root)                         \
  static T log_of_##name(T u) {                                                \
    const T root = (T)0.70710678118654752;                                     \
    I bits, middle, e;                                                         \
    T m;                                                                       \
    memcpy(&bits, &u, sizeof u);                                               \
    memcpy(&middle, &root, sizeof u);                                          \
    e = (bits - middle) >> kMantissa;                                          \
    bits -= (I)((U)e << kMantissa);                                            \
    memcpy(&m, &bits, sizeof m);                                               \
    const T z = (m - 1) / (m + 1), s = z * z;                                  \
    SERIES(T, s, log_##name, p)                                                \
    return (T)e * (T)0.69314718055994531 + (z * s * p + (z + z));              \
  }                                                                            \
  static void normals_##name(T u, T v, T* first, T* second) {                  \
    const T radius = square_root((T)-2 * log_of_##name(u)), turns = v * 4;     \
    const int32_t quarter = (int32_t)(turns + (T)0.5);                         \
    const T x = (turns - (T)quarter) * (T)1.5707963267948966, s = x * x;       \
    SERIES(T, s, sine_##name, p)                                               \
    SERIES(T, s, cosine_##name, q)                                             \
    const T sine = x + x * s * p, cosine = q, c = quarter & 1 ? sine : cosine, \
            d = quarter & 1 ? cosine : sine;                                   \
    *first = radius * ((quarter + 1) & 2 ? -c : c);                            \
    *second = radius * (quarter & 2 ? -d : d);                                 \
  }

static const double log_float[] = {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11};
static const double sine_float[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880};
static const double cosine_float[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800};
static const double log_double[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                    2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
static const double sine_double[] = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
static const double cosine_double[] = {1.0,
                                       -1.0 / 2,
                                       1.0 / 24,
                                       -1.0 / 720,
                                       1.0 / 40320,
                                       -1.0 / 3628800,
                                       1.0 / 479001600,
                                       -1.0 / 87178291200,
                                       1.0 / 20922789888000};
NORMALS(float, int32_t, uint32_t, float, 23, sqrtf)
NORMALS(double, int64_t, uint64_t, double, 52, sqrt)

static void random_normal(const call* c) {
  const tensor* out = output(c, 0);
  const double mean = attr_real(c->node, "mean"), deviation = attr_real(c->node, "stddev");
  for (int64_t i = 0; i < out->count; ++i) {
    const int64_t pair = i & ~(int64_t)1;
    if (out->dtype == PLIMSOLL_F64) {
      double both[2];
      normals_double((double)(long_word(c, pair) + 1) * 0x1p-53, (double)long_word(c, pair + 1) * 0x1p-53,
                     both, both + 1);
      put_real(out, i, mean + deviation * both[i & 1]);
    } else {
      float both[2];
      normals_float((float)((int32_t)(word(c, pair) >> 8) + 1) * 0x1p-24f,
                    (float)(int32_t)(word(c, pair + 1) >> 8) * 0x1p-24f, both, both + 1);
      put_real(out, i, (float)mean + (float)deviation * both[i & 1]);
    }
  }
}

#define RANDOM(name) \
  { #name, name, NULL, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0 }
const op random_ops[] = {
    RANDOM(random_bits),
    RANDOM(random_uniform),
    RANDOM(random_normal),
    RANDOM(fold_in),
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
