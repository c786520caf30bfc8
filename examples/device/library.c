/* Ops that the engine could take apart, as a device with a library of fast kernels has them: with the option
 * `library`. Of dense only two activations are known here; the engine takes the others apart. */
#include <math.h>
#include <string.h>

#include "element.h"

int library_knows(const plimsoll_graph* graph, const plimsoll_node* node) {
  const plimsoll_attr* activation = given_attr(graph, node, "activation");
  return activation == NULL || strcmp(activation->string, "linear") == 0 ||
         strcmp(activation->string, "relu") == 0;
}

/* activation(x kernel + bias), rounded once. */
static void dense(const call* c) {
  const tensor *x = input(c, 0), *kernel = input(c, 1), *bias = input(c, 2), *out = output(c, 0);
  const int64_t depth = kernel->sizes[0], units = kernel->sizes[1];
  const int relu = strcmp(attr_string(c->node, "activation"), "relu") == 0;
  double *wide_x = (double*)c->scratch, *wide_kernel = wide_x + x->count;
  widen(x, wide_x);
  widen(kernel, wide_kernel);
  for (int64_t i = 0; i < out->count; ++i) {
    double sum = get_real(bias, i % units);
    for (int64_t k = 0; k < depth; ++k)
      sum += wide_x[i / units * depth + k] * wide_kernel[k * units + i % units];
    put_real(out, i, relu && sum < 0 ? 0 : sum);
  }
}
static int64_t dense_scratch(const call* c) { return 8 * (input(c, 0)->count + input(c, 1)->count); }

/* Each row is read before it is written, element by element: the output may be the input. */
static void softmax(const call* c) {
  const tensor *x = input(c, 0), *out = output(c, 0);
  const int32_t axis = axis_of(attr_int(c->node, "axis"), x->rank);
  const int64_t size = x->sizes[axis];
  double* row = (double*)c->scratch;
  int64_t inner = 1;
  for (int32_t i = axis + 1; i < x->rank; ++i) inner *= x->sizes[i];
  for (int64_t r = 0; x->count > 0 && r < x->count / size; ++r) {
    const int64_t base = r / inner * size * inner + r % inner;
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < size; ++k) {
      row[k] = get_real(x, base + k * inner);
      most = row[k] > most || isnan(row[k]) ? row[k] : most;
    }
    for (int64_t k = 0; k < size; ++k) sum += row[k] = exp(row[k] - most);
    for (int64_t k = 0; k < size; ++k) put_real(out, base + k * inner, row[k] / sum);
  }
}
static int64_t softmax_scratch(const call* c) {
  return 8 * input(c, 0)->sizes[axis_of(attr_int(c->node, "axis"), input(c, 0)->rank)];
}

const op library_ops[] = {
    {"dense", dense, dense_scratch, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 0},
    {"softmax", softmax, softmax_scratch, OVERLAP_FIRST, PLIMSOLL_FUSE_NO, 0},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};
