#include "element.h"

#include <math.h>
#include <string.h>

int64_t dtype_size(int32_t dtype) {
  static const int8_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[dtype];
}
int is_float(int32_t dtype) { return dtype >= PLIMSOLL_F16 && dtype <= PLIMSOLL_F64; }
int is_complex(int32_t dtype) { return dtype >= PLIMSOLL_C64; }
int is_signed(int32_t dtype) { return dtype >= PLIMSOLL_I8 && dtype <= PLIMSOLL_I64; }

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static float from_f16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 0x1Fu, rest = half & 0x3FFu;
  if (exponent == 0x1F) return float_of(sign | 0x7F800000u | rest << 13);
  if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | rest << 13);
  return sign ? -ldexpf((float)rest, -24) : ldexpf((float)rest, -24);
}

/* Both round to the nearest, of two to the even one. */
static uint16_t to_f16(float x) {
  const uint32_t sign = bits_of(x) >> 16 & 0x8000u, size = bits_of(x) & 0x7FFFFFFFu;
  if (size > 0x7F800000u) return (uint16_t)(sign | 0x7E00u | (size >> 13 & 0x3FFu));
  if (size >= 0x47800000u) return (uint16_t)(sign | 0x7C00u); /* 65536 and more */
  if (size < 0x38800000u) /* below the normal numbers: the sum rounds to a multiple of 2^-24 */
    return (uint16_t)(sign | (bits_of(float_of(size) + 0.5f) - 0x3F000000u));
  return (uint16_t)(sign | (size - 0x38000000u + 0xFFFu + (size >> 13 & 1u)) >> 13);
}
static uint16_t to_bf16(float x) {
  const uint32_t bits = bits_of(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(bits >> 16 | 0x40u); /* a NaN */
  return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

double get_real(const tensor* t, int64_t i) {
  switch (t->dtype) {
    case PLIMSOLL_F16: return from_f16(((const uint16_t*)t->data)[i]);
    case PLIMSOLL_BF16: return float_of((uint32_t)((const uint16_t*)t->data)[i] << 16);
    case PLIMSOLL_F32: return ((const float*)t->data)[i];
    case PLIMSOLL_F64: return ((const double*)t->data)[i];
    case PLIMSOLL_U64: return (double)((const uint64_t*)t->data)[i];
    default: return (double)get_int(t, i);
  }
}

void put_real(const tensor* t, int64_t i, double value) {
  switch (t->dtype) {
    case PLIMSOLL_F16: ((uint16_t*)t->data)[i] = to_f16((float)value); break;
    case PLIMSOLL_BF16: ((uint16_t*)t->data)[i] = to_bf16((float)value); break;
    case PLIMSOLL_F32: ((float*)t->data)[i] = (float)value; break;
    default: ((double*)t->data)[i] = value; break;
  }
}

int64_t get_int(const tensor* t, int64_t i) {
  switch (t->dtype) {
    case PLIMSOLL_BOOL:
    case PLIMSOLL_U8: return ((const uint8_t*)t->data)[i];
    case PLIMSOLL_U16: return ((const uint16_t*)t->data)[i];
    case PLIMSOLL_U32: return ((const uint32_t*)t->data)[i];
    case PLIMSOLL_I8: return ((const int8_t*)t->data)[i];
    case PLIMSOLL_I16: return ((const int16_t*)t->data)[i];
    case PLIMSOLL_I32: return ((const int32_t*)t->data)[i];
    default: return ((const int64_t*)t->data)[i];
  }
}

void put_int(const tensor* t, int64_t i, int64_t value) {
  switch (dtype_size(t->dtype)) {
    case 1: ((uint8_t*)t->data)[i] = t->dtype == PLIMSOLL_BOOL ? value != 0 : (uint8_t)value; break;
    case 2: ((uint16_t*)t->data)[i] = (uint16_t)value; break;
    case 4: ((uint32_t*)t->data)[i] = (uint32_t)value; break;
    default: ((int64_t*)t->data)[i] = value; break;
  }
}

int64_t saturate(int32_t dtype, double value) {
  const int bits = (int)(8 * dtype_size(dtype)) - is_signed(dtype);
  const double end = ldexp(1.0, bits), begin = is_signed(dtype) ? -end : 0;
  const uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  if (isnan(value)) return 0;
  if (value >= end) return (int64_t)most;
  if (value <= begin) return is_signed(dtype) ? -(int64_t)most - 1 : 0;
  return value < 0 ? (int64_t)value : (int64_t)(uint64_t)value;
}

int compare_ints(int32_t dtype, int64_t a, int64_t b) {
  if (dtype == PLIMSOLL_U64) return ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b);
  return (a > b) - (a < b);
}

void widen(const tensor* t, void* to) {
  for (int64_t i = 0; i < t->count; ++i) {
    if (is_float(t->dtype))
      ((double*)to)[i] = get_real(t, i);
    else
      ((int64_t*)to)[i] = get_int(t, i);
  }
}
void narrow(const void* from, const tensor* t) {
  for (int64_t i = 0; i < t->count; ++i) {
    if (is_float(t->dtype))
      put_real(t, i, ((const double*)from)[i]);
    else
      put_int(t, i, ((const int64_t*)from)[i]);
  }
}
