// The routines of BLAS and LAPACK that the linear algebra in src/ops uses, for float and double. Matrices are
// column-major as in Fortran: a row-major one is its own transpose to them. They allocate nothing: `work` has
// as many elements as the *_work function says, each for sizes >= 1. Where a routine cannot do its work (a
// matrix that is not positive definite, no convergence) it returns false and leaves the results undefined.
#pragma once

#include <cstdint>

namespace plimsoll::lapack {

// Above this, products of sizes would not fit LAPACK's 32-bit integers.
inline constexpr int64_t kMostRows = 16384;

// Overwrites the upper triangle of a (n x n) by U with U^T U = a.
template <class T>
bool cholesky(int n, T* a);
// Overwrites b (k x n) by X with X A = b, or X A^T = b; A is a triangle of a (n x n).
template <class T>
void solve_triangle(bool upper, bool transposed, int k, int n, const T* a, T* b);
// a (m x n) = P L U in place; pivots count from 1.
template <class T>
void lu(int m, int n, T* a, int* pivots);
// a (m x n, columns `lead` apart) = L Q: L in the lower triangle. Then `q` gives the first `rows` rows of Q
// in a's place, where min(m, n) <= rows <= n.
template <class T>
void lq(int m, int n, T* a, int lead, T* tau, T* work, int work_size);
template <class T>
void q(int rows, int n, int k, T* a, int lead, const T* tau, T* work, int work_size);
template <class T>
int lq_work(int m, int n, int lead, int rows);
// Eigenvalues, ascending, and eigenvectors, in a's place as columns, of a symmetric a (n x n).
template <class T>
bool eigh(int n, T* a, T* values, T* work, int work_size, int* integers, int integers_size);
template <class T>
void eigh_work(int n, int* work_size, int* integers_size);
// a (m x n, destroyed) = u diag(values) v; u and v square if `full`, else with min(m, n) columns and rows.
// `integers`: 8 min(m, n).
template <class T>
bool svd(bool full, int m, int n, T* a, T* values, T* u, T* v, T* work, int work_size, int* integers);
template <class T>
int svd_work(bool full, int m, int n);

}  // namespace plimsoll::lapack
