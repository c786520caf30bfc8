/* Convolution of 1 to 3 spatial axes, channels last, and its gradients, as plain loops over doubles. x is (N,
 * in..., C), the kernel (window..., C / groups, K), y is (N, out..., K), and y[n, o, k] = sum over w, c of
 * x'[n, o * stride + w * dilation - pad_low, c] * kernel[w, c, k] where x' is x with lhs_dilation - 1 zeros
 * between its elements and zeros around it. Each op widens its two operands into scratch, makes its result
 * there too, and rounds it once at the end. */
#include "element.h"

enum { SPATIAL = 3 };

typedef struct geometry {
  int32_t rank; /* spatial axes */
  int64_t batch, channels, filters, groups;
  int64_t in[SPATIAL], window[SPATIAL], out[SPATIAL];
  int64_t stride[SPATIAL], low[SPATIAL], in_dilation[SPATIAL], dilation[SPATIAL];
} geometry;

static geometry geometry_of(const call* c, const tensor* x, const tensor* kernel, const tensor* y) {
  geometry g = {x->rank - 2,
                x->sizes[0],
                x->sizes[x->rank - 1],
                kernel->sizes[kernel->rank - 1],
                attr_int(c->node, "groups"),
                {0},
                {0},
                {0},
                {0},
                {0},
                {0},
                {0}};
  for (int32_t i = 0; i < g.rank; ++i) {
    g.in[i] = x->sizes[1 + i];
    g.window[i] = kernel->sizes[i];
    g.out[i] = y->sizes[1 + i];
    g.stride[i] = attr_item(c->node, "strides", i, 1);
    g.low[i] = attr_item(c->node, "pad_low", i, 0);
    g.in_dilation[i] = attr_item(c->node, "lhs_dilation", i, 1);
    g.dilation[i] = attr_item(c->node, "rhs_dilation", i, 1);
  }
  return g;
}

/* The point of x under window point w of output point o; -1 where there is padding or a zero between
 * elements. */
static int64_t point_of_x(const geometry* g, const int64_t* o, const int64_t* w) {
  int64_t point = 0;
  for (int32_t i = 0; i < g->rank; ++i) {
    const int64_t at = o[i] * g->stride[i] + w[i] * g->dilation[i] - g->low[i];
    if (at < 0 || at % g->in_dilation[i] != 0 || at / g->in_dilation[i] >= g->in[i]) return -1;
    point = point * g->in[i] + at / g->in_dilation[i];
  }
  return point;
}

/* Where one point of x, one of the window and one of y meet: what all three ops do there, for all channels
 * and filters of a group, is one of these. */
typedef void (*meet)(double* x, double* kernel, double* y, int64_t channels, int64_t filters,
                     int64_t all_filters);

static void meet_forward(double* x, double* kernel, double* y, int64_t channels, int64_t filters,
                         int64_t row) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < filters; ++k) y[k] += x[c] * kernel[c * row + k];
}
static void meet_input(double* x, double* kernel, double* y, int64_t channels, int64_t filters, int64_t row) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < filters; ++k) x[c] += y[k] * kernel[c * row + k];
}
static void meet_filter(double* x, double* kernel, double* y, int64_t channels, int64_t filters,
                        int64_t row) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t k = 0; k < filters; ++k) kernel[c * row + k] += x[c] * y[k];
}

static void everywhere(const geometry* g, double* x, double* kernel, double* y, meet at) {
  const int64_t channels = g->channels / g->groups, filters = g->filters / g->groups;
  int64_t image = 1;
  for (int32_t i = 0; i < g->rank; ++i) image *= g->in[i];
  for (int64_t n = 0; n < g->batch; ++n) {
    for (walk o = walk_over(g->rank, g->out); o.left > 0; walk_next(&o), y += g->filters) {
      double* under = kernel;
      for (walk w = walk_over(g->rank, g->window); w.left > 0;
           walk_next(&w), under += channels * g->filters) {
        const int64_t point = point_of_x(g, o.at, w.at);
        if (point < 0) continue;
        for (int64_t group = 0; group < g->groups; ++group)
          at(x + (n * image + point) * g->channels + group * channels, under + group * filters,
             y + group * filters, channels, filters, g->filters);
      }
    }
  }
}

static void zeros(double* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = 0;
}

/* The scratch of all three: the operands, then the result. */
static int64_t three_wide(const call* c) {
  return 8 * (input(c, 0)->count + input(c, 1)->count + output(c, 0)->count);
}
static double* place(const call* c, int which) {
  return (double*)c->scratch + (which > 0 ? input(c, 0)->count : 0) + (which > 1 ? input(c, 1)->count : 0);
}
static void begin(const call* c) {
  widen(input(c, 0), place(c, 0));
  widen(input(c, 1), place(c, 1));
  zeros(place(c, 2), output(c, 0)->count);
}

static void conv(const call* c) {
  const geometry g = geometry_of(c, input(c, 0), input(c, 1), output(c, 0));
  begin(c);
  everywhere(&g, place(c, 0), place(c, 1), place(c, 2), meet_forward);
  narrow(place(c, 2), output(c, 0));
}

static void conv_grad_input(const call* c) {
  const geometry g = geometry_of(c, output(c, 0), input(c, 1), input(c, 0));
  begin(c);
  everywhere(&g, place(c, 2), place(c, 1), place(c, 0), meet_input);
  narrow(place(c, 2), output(c, 0));
}

/* With a second output, the sums of dy over all axes but the last: the gradient of a bias. */
static void conv_grad_filter(const call* c) {
  const geometry g = geometry_of(c, input(c, 0), output(c, 0), input(c, 1));
  begin(c);
  everywhere(&g, place(c, 0), place(c, 2), place(c, 1), meet_filter);
  narrow(place(c, 2), output(c, 0));
  for (int64_t k = 0; c->node->output_count == 2 && k < g.filters; ++k) {
    double sum = 0;
    for (int64_t i = k; i < input(c, 1)->count; i += g.filters) sum += place(c, 1)[i];
    put_real(output(c, 1), k, sum);
  }
}

#define CONV(name) \
  { #name, name, three_wide, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0 }
const op conv_ops[] = {
    CONV(conv),
    CONV(conv_grad_input),
    CONV(conv_grad_filter),
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
