#include "mma_text.h"

namespace plimsoll::cuda {

// A fragment is what one thread of a warp has of a matrix; PTX's manual says which elements, for
// mma.m16n8k16 (halves) and mma.m16n8k8 (TF32). g = lane / 4 and t = lane % 4 throughout. The contracted
// index may be counted in any order that both operands share: `cols` and `pack` use that for TF32.
std::string_view mma_functions() {
  return R"(
#ifndef PLIMSOLL_MMA
#define PLIMSOLL_MMA
#define PLIMSOLL_INLINE __device__ __forceinline__
#ifdef __CUDACC_RTC__
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) char name[]
PLIMSOLL_FN void add_release(unsigned* at) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
}
PLIMSOLL_FN unsigned read_acquire(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
PLIMSOLL_FN void read_16(const void* at, unsigned* to) {
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "l"(at) : "memory");
}
PLIMSOLL_FN void read_8(const void* at, unsigned* to) {
  asm volatile("ld.global.cg.v2.u32 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "l"(at) : "memory");
}
PLIMSOLL_FN float read_f32(const float* at) {
  float x;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(at) : "memory");
  return x;
}
PLIMSOLL_FN unsigned as_tf32(float x) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return rounded;
}
#define PLIMSOLL_MMA_OF(name, shape)                                                                              \
  PLIMSOLL_FN void mma_##name(float* d, const unsigned* a, const unsigned* b) {                                   \
    asm("mma.sync.aligned." shape " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                        \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                          \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                      \
  }
PLIMSOLL_MMA_OF(f32, "m16n8k8.row.col.f32.tf32.tf32.f32")
PLIMSOLL_MMA_OF(bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
PLIMSOLL_MMA_OF(f16, "m16n8k16.row.col.f32.f16.f16.f32")
// Of a matrix (k, n) of halves in shared memory: rows k0 to k0 + 15, from column n on.
PLIMSOLL_FN void transposed_halves(const uint16_t* from, int stride, unsigned* b) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(from + (threadIdx.x % 16) * stride);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1]) : "r"(at) : "memory");
}
#else
PLIMSOLL_FN void transposed_halves(const uint16_t* from, int stride, unsigned* b) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int i = 0; i < 2; ++i)
    b[i] = from[(8 * i + 2 * t) * stride + g] | (unsigned)from[(8 * i + 2 * t + 1) * stride + g] << 16;
}
#endif

PLIMSOLL_FN float logistic(float x) { return 1 / (1 + expf(-x)); }

struct of_f32 {
  typedef float stored;
  enum { step = 8, pad = 4 };
  static PLIMSOLL_INLINE void mma(float* d, const unsigned* a, const unsigned* b) { mma_f32(d, a, b); }
  // From rows g and g + 8 of A, which begin at these places, or 0 where there is none.
  static PLIMSOLL_INLINE void rows_a(const float* x, const float* y, int at, int t, unsigned* a) {
    a[0] = x ? as_tf32(x[at + t]) : 0;
    a[1] = y ? as_tf32(y[at + t]) : 0;
    a[2] = x ? as_tf32(x[at + t + 4]) : 0;
    a[3] = y ? as_tf32(y[at + t + 4]) : 0;
  }
  // Of B, whose column g is this row.
  static PLIMSOLL_INLINE void rows_b(const float* x, int at, int t, unsigned* b) {
    b[0] = as_tf32(x[at + t]);
    b[1] = as_tf32(x[at + t + 4]);
  }
  // Of B as it lies, from this element on; in the order of k that pack() has.
  static PLIMSOLL_INLINE void cols_b(const float* x, int stride, int g, int t, unsigned* b) {
    b[0] = as_tf32(x[2 * t * stride + g]);
    b[1] = as_tf32(x[(2 * t + 1) * stride + g]);
  }
  // Results of products, n / 8 of them beside each other, as the A of the next one.
  static PLIMSOLL_INLINE void pack(const float (*p)[4], int step, unsigned* a) {
    a[0] = as_tf32(p[step][0]);
    a[1] = as_tf32(p[step][2]);
    a[2] = as_tf32(p[step][1]);
    a[3] = as_tf32(p[step][3]);
  }
  static PLIMSOLL_INLINE void write_2(float* to, float x, float y) {
    to[0] = x;
    to[1] = y;
  }
};

#define PLIMSOLL_HALVES_OF(name)                                                                                  \
  struct of_##name {                                                                                              \
    typedef uint16_t stored;                                                                                      \
    enum { step = 16, pad = 8 };                                                                                  \
    static PLIMSOLL_INLINE void mma(float* d, const unsigned* a, const unsigned* b) { mma_##name(d, a, b); }      \
    static PLIMSOLL_INLINE void rows_a(const uint16_t* x, const uint16_t* y, int at, int t, unsigned* a) {        \
      a[0] = x ? *(const unsigned*)(x + at + 2 * t) : 0;                                                          \
      a[1] = y ? *(const unsigned*)(y + at + 2 * t) : 0;                                                          \
      a[2] = x ? *(const unsigned*)(x + at + 2 * t + 8) : 0;                                                      \
      a[3] = y ? *(const unsigned*)(y + at + 2 * t + 8) : 0;                                                      \
    }                                                                                                             \
    static PLIMSOLL_INLINE void rows_b(const uint16_t* x, int at, int t, unsigned* b) {                           \
      b[0] = *(const unsigned*)(x + at + 2 * t);                                                                  \
      b[1] = *(const unsigned*)(x + at + 2 * t + 8);                                                              \
    }                                                                                                             \
    static PLIMSOLL_INLINE void cols_b(const uint16_t* x, int stride, int, int, unsigned* b) {                    \
      transposed_halves(x, stride, b);                                                                            \
    }                                                                                                             \
    static PLIMSOLL_INLINE unsigned both(float x, float y) {                                                      \
      return narrow_##name(x) | (unsigned)narrow_##name(y) << 16;                                                 \
    }                                                                                                             \
    static PLIMSOLL_INLINE void pack(const float (*p)[4], int step, unsigned* a) {                                \
      a[0] = both(p[2 * step][0], p[2 * step][1]);                                                                \
      a[1] = both(p[2 * step][2], p[2 * step][3]);                                                                \
      a[2] = both(p[2 * step + 1][0], p[2 * step + 1][1]);                                                        \
      a[3] = both(p[2 * step + 1][2], p[2 * step + 1][3]);                                                        \
    }                                                                                                             \
    static PLIMSOLL_INLINE void write_2(uint16_t* to, float x, float y) { *(unsigned*)to = both(x, y); }          \
  };
PLIMSOLL_HALVES_OF(bf16)
PLIMSOLL_HALVES_OF(f16)

// 64 rows of D elements from memory, where they lie `apart`, to shared memory; rows that are not there are 0.
template <class E, int D>
PLIMSOLL_FN void read_tile(typename E::stored* to, const typename E::stored* from, int64_t apart, int rows) {
  enum { each = 16 / sizeof(typename E::stored), across = D / each };
  struct alignas(16) Piece { typename E::stored at[each]; };
  for (int i = threadIdx.x; i < 64 * across; i += 128) {
    const int row = i / across, column = i % across * each;
    Piece piece = {};
    if (row < rows) piece = *(const Piece*)(from + row * apart + column);
    *(Piece*)(to + row * (D + E::pad) + column) = piece;
  }
}
#endif
)";
}

}  // namespace plimsoll::cuda
