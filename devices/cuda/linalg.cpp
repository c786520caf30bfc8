// Factors of matrices, the last two axes of a tensor: one thread per matrix (triangular_solve: per column),
// in double. Right for any size and fast for many small matrices; one large one is better factored on the
// CPU.
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr std::string_view kCholesky = R"(
bool ok = true;
for (int64_t j = 0; j < N; ++j) {
  double d = (double)a[j * N + j];
  for (int64_t k = 0; k < j; ++k) d -= (double)l[j * N + k] * (double)l[j * N + k];
  ok = ok && d > 0;
  const double root = sqrt(d);
  l[j * N + j] = (real)root;
  for (int64_t i = j + 1; i < N; ++i) {
    double s = ((double)a[i * N + j] + (double)a[j * N + i]) / 2;
    for (int64_t k = 0; k < j; ++k) s -= (double)l[i * N + k] * (double)l[j * N + k];
    l[i * N + j] = (real)(s / root);
    l[j * N + i] = 0;
  }
}
for (int64_t i = 0; !ok && i < N * N; ++i) l[i] = NAN;
)";

// Column `column` of x; LOWER and TURNED are 0 or 1. What is solved from the top down reads the triangle
// forwards.
constexpr std::string_view kTriangularSolve = R"(
for (int64_t step = 0; step < N; ++step) {
  const int64_t i = LOWER != TURNED ? step : N - 1 - step;
  double s = (double)b[i * K + column];
  for (int64_t done = 0; done < step; ++done) {
    const int64_t k = LOWER != TURNED ? done : N - 1 - done;
    s -= (double)(TURNED ? a[k * N + i] : a[i * N + k]) * (double)x[k * K + column];
  }
  x[i * K + column] = (real)(s / (double)a[i * N + i]);
}
)";

constexpr std::string_view kLu = R"(
for (int64_t i = 0; i < N * K; ++i) f[i] = a[i];
for (int64_t i = 0; i < N; ++i) permutation[i] = (int32_t)i;
for (int64_t j = 0; j < LEAST; ++j) {
  int64_t p = j;
  for (int64_t i = j + 1; i < N; ++i)
    if (fabs((double)f[i * K + j]) > fabs((double)f[p * K + j])) p = i;
  pivots[j] = (int32_t)p;
  const int32_t kept = permutation[j];
  permutation[j] = permutation[p];
  permutation[p] = kept;
  for (int64_t k = 0; p != j && k < K; ++k) {
    const real v = f[j * K + k];
    f[j * K + k] = f[p * K + k];
    f[p * K + k] = v;
  }
  for (int64_t i = j + 1; f[j * K + j] != 0 && i < N; ++i) {
    f[i * K + j] = (real)((double)f[i * K + j] / (double)f[j * K + j]);
    for (int64_t k = j + 1; k < K; ++k)
      f[i * K + k] = (real)((double)f[i * K + k] - (double)f[i * K + j] * (double)f[j * K + k]);
  }
}
)";

// Householder's reflections with LAPACK's signs. w: a as doubles; t: the factors of the reflections.
constexpr std::string_view kQr = R"(
for (int64_t i = 0; i < N * K; ++i) w[i] = (double)a[i];
for (int64_t j = 0; j < LEAST; ++j) {
  double tail = 0;
  for (int64_t i = j + 1; i < N; ++i) tail += w[i * K + j] * w[i * K + j];
  t[j] = 0;
  if (tail == 0) continue;
  const double alpha = w[j * K + j], beta = -copysign(sqrt(alpha * alpha + tail), alpha);
  t[j] = (beta - alpha) / beta;
  for (int64_t i = j + 1; i < N; ++i) w[i * K + j] /= alpha - beta;
  w[j * K + j] = beta;
  for (int64_t k = j + 1; k < K; ++k) {
    double s = w[j * K + k];
    for (int64_t i = j + 1; i < N; ++i) s += w[i * K + j] * w[i * K + k];
    w[j * K + k] -= t[j] * s;
    for (int64_t i = j + 1; i < N; ++i) w[i * K + k] -= t[j] * s * w[i * K + j];
  }
}
for (int64_t i = 0; i < Q; ++i)
  for (int64_t k = 0; k < K; ++k) r[i * K + k] = k < i ? (real)0 : (real)w[i * K + k];
for (int64_t c = 0; c < Q; ++c) {  // the reflections, last one first, of a column of the identity; v holds it
  for (int64_t i = 0; i < N; ++i) v[i] = i == c;
  for (int64_t j = LEAST - 1; j >= 0; --j) {
    double s = v[j];
    for (int64_t i = j + 1; i < N; ++i) s += w[i * K + j] * v[i];
    v[j] -= t[j] * s;
    for (int64_t i = j + 1; i < N; ++i) v[i] -= t[j] * s * w[i * K + j];
  }
  for (int64_t i = 0; i < N; ++i) q[i * Q + c] = (real)v[i];
}
)";

// Jacobi's rotations of w, gathered in v, until nothing is left off the diagonal.
constexpr std::string_view kEigh = R"(
bool finite = true;
for (int64_t i = 0; i < N; ++i)
  for (int64_t j = 0; j < N; ++j) {
    w[i * N + j] = ((double)a[i * N + j] + (double)a[j * N + i]) / 2;
    finite = finite && w[i * N + j] - w[i * N + j] == 0;
    v[i * N + j] = i == j;
  }
for (int round = 0; finite && round < 60; ++round) {
  double off = 0, all = 0;
  for (int64_t i = 0; i < N; ++i)
    for (int64_t j = 0; j < N; ++j) {
      all += w[i * N + j] * w[i * N + j];
      if (i != j) off += w[i * N + j] * w[i * N + j];
    }
  if (off <= 1e-30 * all) break;
  for (int64_t p = 0; p < N; ++p)
    for (int64_t q = p + 1; q < N; ++q) {
      if (w[p * N + q] == 0) continue;
      const double z = (w[q * N + q] - w[p * N + p]) / (2 * w[p * N + q]);
      const double tangent = copysign(1.0, z) / (fabs(z) + sqrt(z * z + 1));
      const double c = 1 / sqrt(tangent * tangent + 1), s = c * tangent;
      for (int64_t k = 0; k < N; ++k) {
        const double x = w[k * N + p], y = w[k * N + q];
        w[k * N + p] = c * x - s * y;
        w[k * N + q] = s * x + c * y;
      }
      for (int64_t k = 0; k < N; ++k) {
        const double x = w[p * N + k], y = w[q * N + k];
        w[p * N + k] = c * x - s * y;
        w[q * N + k] = s * x + c * y;
        const double f = v[k * N + p], g = v[k * N + q];
        v[k * N + p] = c * f - s * g;
        v[k * N + q] = s * f + c * g;
      }
    }
}
for (int64_t j = 0; j < N; ++j) {
  int64_t rank = 0, most = 0;
  for (int64_t k = 0; k < N; ++k) rank += w[k * N + k] < w[j * N + j] || (w[k * N + k] == w[j * N + j] && k < j);
  if (!finite) rank = j;
  for (int64_t k = 1; k < N; ++k) most = fabs(v[k * N + j]) > fabs(v[most * N + j]) ? k : most;
  const double sign = v[most * N + j] < 0 ? -1 : 1;
  values[rank] = finite ? (real)w[j * N + j] : (real)NAN;
  for (int64_t i = 0; i < N; ++i) vectors[i * N + rank] = finite ? (real)(sign * v[i * N + j]) : (real)NAN;
}
)";

// One-sided: rotates the columns of w, a or its transpose, M by L with M >= L, until they are orthogonal; v
// gathers the rotations. Their lengths are the singular values, their directions the vectors of the longer
// side. Those that have no length, and those beyond L, are filled up by unit vectors made orthogonal to the
// rest. z: a column; t: the lengths.
constexpr std::string_view kSvd = R"(
bool finite = true;
for (int64_t i = 0; i < M; ++i)
  for (int64_t j = 0; j < L; ++j) {
    w[i * L + j] = (double)(WIDE ? a[j * M + i] : a[i * L + j]);
    finite = finite && w[i * L + j] - w[i * L + j] == 0;
  }
for (int64_t i = 0; i < L * L; ++i) v[i] = i / L == i % L;
bool turned = finite;
for (int round = 0; turned && round < 60; ++round) {
  turned = false;
  for (int64_t p = 0; p < L; ++p)
    for (int64_t q = p + 1; q < L; ++q) {
      double x = 0, y = 0, xy = 0;
      for (int64_t i = 0; i < M; ++i) {
        x += w[i * L + p] * w[i * L + p];
        y += w[i * L + q] * w[i * L + q];
        xy += w[i * L + p] * w[i * L + q];
      }
      if (fabs(xy) <= 1e-15 * sqrt(x * y)) continue;
      turned = true;
      const double f = (y - x) / (2 * xy), tangent = copysign(1.0, f) / (fabs(f) + sqrt(f * f + 1));
      const double c = 1 / sqrt(tangent * tangent + 1), s = c * tangent;
      for (int64_t i = 0; i < M + L; ++i) {
        double* const row = i < M ? w + i * L : v + (i - M) * L;
        const double g = row[p], h = row[q];
        row[p] = c * g - s * h;
        row[q] = s * g + c * h;
      }
    }
}
double longest = 0;
for (int64_t j = 0; j < L; ++j) {
  t[j] = 0;
  for (int64_t i = 0; i < M; ++i) t[j] += w[i * L + j] * w[i * L + j];
  t[j] = sqrt(t[j]);
  longest = t[j] > longest ? t[j] : longest;
}
for (int64_t j = 0; j < L; ++j) {  // in descending order
  int64_t rank = 0;
  for (int64_t k = 0; k < L; ++k) rank += t[k] > t[j] || (t[k] == t[j] && k < j);
  values[rank] = finite ? (real)t[j] : (real)NAN;
  const bool there = t[j] > 1e-15 * longest;
  for (int64_t i = 0; i < M; ++i) LONG(i, rank) = there ? (real)(w[i * L + j] / t[j]) : (real)0;
  for (int64_t i = 0; i < L; ++i) SHORT(i, rank) = (real)v[i * L + j];
}
for (int64_t c = 0; finite && c < FULL; ++c) {
  double length = 0;
  for (int64_t i = 0; c < L && i < M; ++i) length += (double)LONG(i, c) * (double)LONG(i, c);
  for (int64_t unit = 0; length < 0.25 && unit < M; ++unit) {
    for (int64_t i = 0; i < M; ++i) z[i] = i == unit;
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t k = 0; k < FULL; ++k) {
        if (k == c || (k > c && k >= L)) continue;
        double s = 0;
        for (int64_t i = 0; i < M; ++i) s += z[i] * (double)LONG(i, k);
        for (int64_t i = 0; i < M; ++i) z[i] -= s * (double)LONG(i, k);
      }
    length = 0;
    for (int64_t i = 0; i < M; ++i) length += z[i] * z[i];
    if (length < 0.25 / M) continue;
    for (int64_t i = 0; i < M; ++i) LONG(i, c) = (real)(z[i] / sqrt(length));
    length = 1;
  }
}
for (int64_t j = 0; j < L; ++j) {  // the largest element of a column of u is positive
  double most = 0;
  for (int64_t i = 0; i < ROWS; ++i) most = fabs((double)U(i, j)) > fabs(most) ? (double)U(i, j) : most;
  if (most >= 0) continue;
  for (int64_t i = 0; i < M; ++i) LONG(i, j) = -LONG(i, j);
  for (int64_t i = 0; i < L; ++i) SHORT(i, j) = -SHORT(i, j);
}
for (int64_t i = 0; !finite && i < M * FULL; ++i) LONG(i % M, i / M) = NAN;
for (int64_t i = 0; !finite && i < L * L; ++i) SHORT(i % L, i / L) = NAN;
)";

int64_t rows_of(const Type& t) { return t.sizes[t.sizes.size() - 2]; }
int64_t columns_of(const Type& t) { return t.sizes.back(); }
int64_t matrices_in(const Type& t) { return t.count() / (rows_of(t) * columns_of(t)); }

// A kernel from declarations of names by pointers and one of the texts above.
class MatrixKernel {
 public:
  explicit MatrixKernel(Build& b) : b_(b), real_(stored(b.node.in(0).dtype)) {
    body_ = concat("typedef ", real_, " real;\n");
  }
  void number(std::string_view name, int64_t value) {
    body_ += concat("const int64_t ", name, " = ", value, ";\n");
  }
  // Part `matrix` of a tensor, by `elements`.
  void input(std::string_view name, size_t i, int64_t elements) {
    pointer(name, concat("const ", stored(b_.node.in(i).dtype)), elements, b_.in(i));
  }
  void output(std::string_view name, size_t i, int64_t elements) {
    pointer(name, std::string(stored(b_.node.out(i).dtype)), elements, b_.out(i));
  }
  void scratch(std::string_view name, int64_t elements, int64_t matrices) {
    pointer(name, "double", elements, b_.scratch(8 * elements * matrices));
  }
  void text(std::string_view text) { body_ += text; }
  void launch(int64_t threads, std::string_view matrix) {
    b_.each(parameters_, threads, concat("const int64_t matrix = ", matrix, ";\n", body_), std::move(args_));
  }

 private:
  void pointer(std::string_view name, const std::string& type, int64_t elements, Ref ref) {
    parameters_ += concat(args_.empty() ? "" : ", ", type, "* arg", args_.size());
    body_ += concat(type, "* const ", name, " = arg", args_.size(), " + matrix * ", elements, ";\n");
    args_.push_back(ref);
  }

  Build& b_;
  std::string_view real_;
  std::string parameters_, body_;
  std::vector<Ref> args_;
};

void cholesky(Build& b) {
  const Type a = b.node.in(0);
  const int64_t n = columns_of(a);
  MatrixKernel k(b);
  k.number("N", n);
  k.input("a", 0, n * n);
  k.output("l", 0, n * n);
  k.text(kCholesky);
  k.launch(matrices_in(a), "at");
}

void triangular_solve(Build& b) {
  const Type x = b.node.out(0);
  const int64_t n = rows_of(x), columns = columns_of(x);
  MatrixKernel k(b);
  k.number("N", n);
  k.number("K", columns);
  k.number("LOWER", b.node.integer("lower") != 0);
  k.number("TURNED", b.node.integer("transposed") != 0);
  k.input("a", 0, n * n);
  k.input("b", 1, n * columns);
  k.output("x", 0, n * columns);
  k.text(concat("const int64_t column = at % ", columns, ";\n", kTriangularSolve));
  k.launch(matrices_in(x) * columns, concat("at / ", columns));
}

void lu(Build& b) {
  const Type a = b.node.in(0);
  const int64_t rows = rows_of(a), columns = columns_of(a), least = std::min(rows, columns);
  MatrixKernel k(b);
  k.number("N", rows);
  k.number("K", columns);
  k.number("LEAST", least);
  k.input("a", 0, rows * columns);
  k.output("f", 0, rows * columns);
  k.output("pivots", 1, least);
  k.output("permutation", 2, rows);
  k.text(kLu);
  k.launch(matrices_in(a), "at");
}

void qr(Build& b) {
  const Type a = b.node.in(0);
  const int64_t rows = rows_of(a), columns = columns_of(a), least = std::min(rows, columns),
                count = matrices_in(a);
  const int64_t kept = columns_of(b.node.out(0));
  MatrixKernel k(b);
  k.number("N", rows);
  k.number("K", columns);
  k.number("LEAST", least);
  k.number("Q", kept);
  k.input("a", 0, rows * columns);
  k.output("q", 0, rows * kept);
  k.output("r", 1, kept * columns);
  k.scratch("w", rows * columns, count);
  k.scratch("t", least, count);
  k.scratch("v", rows, count);
  k.text(kQr);
  k.launch(count, "at");
}

void eigh(Build& b) {
  const Type a = b.node.in(0);
  const int64_t n = columns_of(a), count = matrices_in(a);
  MatrixKernel k(b);
  k.number("N", n);
  k.input("a", 0, n * n);
  k.output("values", 0, n);
  k.output("vectors", 1, n * n);
  k.scratch("w", n * n, count);
  k.scratch("v", n * n, count);
  k.text(kEigh);
  k.launch(count, "at");
}

void svd(Build& b) {
  const Type a = b.node.in(0);
  const int64_t rows = rows_of(a), columns = columns_of(a), count = matrices_in(a);
  const bool wide = rows < columns;
  const int64_t longer = std::max(rows, columns), shorter = std::min(rows, columns);
  const int64_t u_columns = columns_of(b.node.out(0)), v_rows = rows_of(b.node.out(2));
  MatrixKernel k(b);
  k.number("M", longer);
  k.number("L", shorter);
  k.number("ROWS", rows);
  k.number("WIDE", wide);
  k.number("FULL", wide ? v_rows : u_columns);
  k.input("a", 0, rows * columns);
  k.output("u", 0, rows * u_columns);
  k.output("values", 1, shorter);
  k.output("vt", 2, v_rows * columns);
  k.scratch("w", longer * shorter, count);
  k.scratch("v", shorter * shorter, count);
  k.scratch("z", longer, count);
  k.scratch("t", shorter, count);
  k.text(concat("#define U(i, j) u[(i) * ", u_columns, " + (j)]\n#define V(i, j) vt[(j) * ", columns,
                " + (i)]\n", "#define LONG(i, j) ", wide ? "V" : "U", "(i, j)\n#define SHORT(i, j) ",
                wide ? "U" : "V", "(i, j)\n", kSvd, "#undef U\n#undef V\n#undef LONG\n#undef SHORT\n"));
  k.launch(count, "at");
}

}  // namespace

std::span<const Op> matrix_ops() {
  static const Op ops[] = {
      {.name = "cholesky", .lower = cholesky},
      {.name = "triangular_solve", .lower = triangular_solve},
      {.name = "lu", .lower = lu},
      {.name = "qr", .lower = qr},
      {.name = "eigh", .lower = eigh},
      {.name = "svd", .lower = svd},
  };
  return ops;
}

}  // namespace plimsoll::cuda
