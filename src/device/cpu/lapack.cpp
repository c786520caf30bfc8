// Debian's reference LAPACK, linked in (docs/decisions/0031-lapack-linked-in.md). Fortran passes the lengths
// of strings behind all other arguments.
#include "device/cpu/lapack.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

// clang-format off
#define PLIMSOLL_ROUTINES(T, p)                                                                                     \
  void p##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                          \
  void p##trsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,              \
                const int* n, const T* alpha, const T* a, const int* lda, T* b, const int* ldb,                     \
                size_t, size_t, size_t, size_t);                                                                    \
  void p##getrf_(const int* m, const int* n, T* a, const int* lda, int* ipiv, int* info);                           \
  void p##gelqf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);   \
  void p##orglq_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,             \
                 const int* lwork, int* info);                                                                      \
  void p##syevd_(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,             \
                 const int* lwork, int* iwork, const int* liwork, int* info, size_t, size_t);                       \
  void p##gesdd_(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu,    \
                 T* vt, const int* ldvt, T* work, const int* lwork, int* iwork, int* info, size_t);

extern "C" {
PLIMSOLL_ROUTINES(float, s)
PLIMSOLL_ROUTINES(double, d)
// clang-format on

// LAPACK's own prints and ends the process. What it tells of, an argument out of range, also comes back as
// `info`.
void xerbla_(const char*, const int*, size_t) {}
// The one function of Fortran's runtime that these routines call: to = a // b, filled up with blanks.
void _gfortran_concat_string(size_t size, char* to, size_t a_size, const char* a, size_t b_size,
                             const char* b) {
  const size_t first = std::min(size, a_size), second = std::min(size - first, b_size);
  std::memcpy(to, a, first);
  std::memcpy(to + first, b, second);
  std::memset(to + first + second, ' ', size - first - second);
}
}

namespace plimsoll::lapack {
namespace {

const int kAsk = -1;

// The routine of the type.
#define PLIMSOLL_ROUTINE(name)    \
  template <class T>              \
  constexpr auto name() {         \
    if constexpr (sizeof(T) == 4) \
      return s##name##_;          \
    else                          \
      return d##name##_;          \
  }
PLIMSOLL_ROUTINE(potrf)
PLIMSOLL_ROUTINE(trsm)
PLIMSOLL_ROUTINE(getrf)
PLIMSOLL_ROUTINE(gelqf)
PLIMSOLL_ROUTINE(orglq)
PLIMSOLL_ROUTINE(syevd)
PLIMSOLL_ROUTINE(gesdd)

}  // namespace

template <class T>
bool cholesky(int n, T* a) {
  int info = 0;
  potrf<T>()("U", &n, a, &n, &info, 1);
  return info == 0;
}

template <class T>
void solve_triangle(bool upper, bool transposed, int k, int n, const T* a, T* b) {
  const T one = 1;
  trsm<T>()("R", upper ? "U" : "L", transposed ? "T" : "N", "N", &k, &n, &one, a, &n, b, &k, 1, 1, 1, 1);
}

template <class T>
void lu(int m, int n, T* a, int* pivots) {
  int info = 0;
  getrf<T>()(&m, &n, a, &m, pivots, &info);
}

template <class T>
void lq(int m, int n, T* a, int lead, T* tau, T* work, int work_size) {
  int info = 0;
  gelqf<T>()(&m, &n, a, &lead, tau, work, &work_size, &info);
}

template <class T>
void q(int rows, int n, int k, T* a, int lead, const T* tau, T* work, int work_size) {
  int info = 0;
  orglq<T>()(&rows, &n, &k, a, &lead, tau, work, &work_size, &info);
}

template <class T>
int lq_work(int m, int n, int lead, int rows) {
  T first = 0, second = 0, unused = 0;
  int info = 0;
  const int k = std::min(m, n);
  gelqf<T>()(&m, &n, &unused, &lead, &unused, &first, &kAsk, &info);
  orglq<T>()(&rows, &n, &k, &unused, &lead, &unused, &second, &kAsk, &info);
  return std::max({m, rows, static_cast<int>(first), static_cast<int>(second)});
}

template <class T>
bool eigh(int n, T* a, T* values, T* work, int work_size, int* integers, int integers_size) {
  int info = 0;
  syevd<T>()("V", "L", &n, a, &n, values, work, &work_size, integers, &integers_size, &info, 1, 1);
  return info == 0;
}

// As documented: in float the answer to a question about a large n is rounded.
template <class T>
void eigh_work(int n, int* work_size, int* integers_size) {
  T asked = 0, unused = 0;
  int integers = 0, info = 0;
  syevd<T>()("V", "L", &n, &unused, &n, &unused, &asked, &kAsk, &integers, &kAsk, &info, 1, 1);
  *work_size = std::max(static_cast<int>(asked), 1 + 6 * n + 2 * n * n);
  *integers_size = std::max(integers, 3 + 5 * n);
}

template <class T>
bool svd(bool full, int m, int n, T* a, T* values, T* u, T* v, T* work, int work_size, int* integers) {
  int info = 0;
  const int lead_v = full ? n : std::min(m, n);
  gesdd<T>()(full ? "A" : "S", &m, &n, a, &m, values, u, &m, v, &lead_v, work, &work_size, integers, &info,
             1);
  return info == 0;
}

template <class T>
int svd_work(bool full, int m, int n) {
  T asked = 0, unused = 0;
  int integers = 0, info = 0;
  const int k = std::min(m, n), lead_v = full ? n : k, more = std::max(m, n);
  gesdd<T>()(full ? "A" : "S", &m, &n, &unused, &m, &unused, &unused, &m, &unused, &lead_v, &asked, &kAsk,
             &integers, &info, 1);
  return std::max(static_cast<int>(asked), 4 * k * k + 6 * k + more);
}

#define PLIMSOLL_INSTANCES(T)                                       \
  template bool cholesky(int, T*);                                  \
  template void solve_triangle(bool, bool, int, int, const T*, T*); \
  template void lu(int, int, T*, int*);                             \
  template void lq(int, int, T*, int, T*, T*, int);                 \
  template void q(int, int, int, T*, int, const T*, T*, int);       \
  template int lq_work<T>(int, int, int, int);                      \
  template bool eigh(int, T*, T*, T*, int, int*, int);              \
  template void eigh_work<T>(int, int*, int*);                      \
  template bool svd(bool, int, int, T*, T*, T*, T*, T*, int, int*); \
  template int svd_work<T>(bool, int, int);
PLIMSOLL_INSTANCES(float)
PLIMSOLL_INSTANCES(double)

}  // namespace plimsoll::lapack
