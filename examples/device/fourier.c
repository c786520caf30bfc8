/* fft, rfft and irfft along the last axis, by the definition: sums over all points. Complex numbers are pairs
 * of tensors. */
#include <math.h>

#include "element.h"

typedef struct transform {
  const tensor *re, *im;   /* im: null for real input */
  int64_t given, points;   /* numbers of a row of the input; of the whole transform */
  int half;                /* the input is the first half of numbers whose second mirrors it (irfft) */
  int sign;                /* of the exponent; 1 for the inverse, which divides by `points` too */
  const double *cos, *sin; /* of all fractions of a turn */
} transform;

/* Number j of a row. What has no mirror image counts as real. */
static void number(const transform* t, int64_t row, int64_t j, double* re, double* im) {
  const int mirrored = j >= t->given;
  const int64_t at = row * t->given + (mirrored ? t->points - j : j);
  *re = get_real(t->re, at);
  *im = t->im == NULL || (t->half && (j == 0 || 2 * j == t->points)) ? 0 : get_real(t->im, at);
  if (mirrored) *im = -*im;
}

/* Scratch: the table, then the numbers of a row. */
static int64_t longest(const call* c) {
  const tensor *x = input(c, 0), *y = output(c, 0);
  const int64_t in = x->sizes[x->rank - 1], out = y->sizes[y->rank - 1];
  return in > out ? in : out;
}
static int64_t table_and_row(const call* c) { return 4 * 8 * longest(c); }

static void run_transform(const call* c, const transform* t) {
  const tensor* out = output(c, 0);
  const int64_t n = t->points, kept = out->sizes[out->rank - 1];
  double *re = (double*)c->scratch + 2 * n, *im = re + n;
  for (int64_t row = 0; out->count > 0 && row < out->count / kept; ++row) {
    for (int64_t j = 0; j < n; ++j) number(t, row, j, &re[j], &im[j]);
    for (int64_t k = 0; k < kept; ++k) {
      double x = 0, y = 0;
      for (int64_t j = 0, turn = 0; j < n; ++j, turn = (turn + k) % n) {
        x += re[j] * t->cos[turn] - t->sign * im[j] * t->sin[turn];
        y += im[j] * t->cos[turn] + t->sign * re[j] * t->sin[turn];
      }
      put_real(out, row * kept + k, t->sign > 0 ? x / (double)n : x);
      if (c->node->output_count == 2) put_real(output(c, 1), row * kept + k, t->sign > 0 ? y / (double)n : y);
    }
  }
}

static void transform_all(const call* c, int half, int sign) {
  const tensor* x = input(c, 0);
  const int64_t n = longest(c);
  double *cosines = (double*)c->scratch, *sines = cosines + n;
  const transform t = {
      x,    c->node->input_count == 2 ? input(c, 1) : NULL, x->sizes[x->rank - 1], n, half, sign, cosines,
      sines};
  for (int64_t i = 0; i < n; ++i) {
    cosines[i] = cos(6.283185307179586 * (double)i / (double)n);
    sines[i] = sin(6.283185307179586 * (double)i / (double)n);
  }
  run_transform(c, &t);
}

static void fft(const call* c) { transform_all(c, 0, attr_int(c->node, "inverse") ? 1 : -1); }
static void rfft(const call* c) { transform_all(c, 0, -1); }
static void irfft(const call* c) { transform_all(c, 1, 1); }

const op fourier_ops[] = {
    {"fft", fft, table_and_row, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {"rfft", rfft, table_and_row, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {"irfft", irfft, table_and_row, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
