/* Every op of the engine, for the authors of device plug-ins; docs/devices.md says what each primitive computes. Printed from
 * the registry: PLIMSOLL_WRITE_DOCS=1 build/bin/device_sweep_test --gtest_filter='Catalogue.*' writes it anew.
 *
 * PLIMSOLL_OPS(OP) calls OP once per op with
 *   its name;
 *   the least and the most inputs, -1: any number;
 *   the least and the most outputs, -1: as many as its sub-graph has;
 *   flags, below;
 *   its attributes, "name: kind = default" with commas between; those without a default are always there.
 * The names, for example:
 *   #define NAME(name, ...) #name,
 *   static const char* const names[] = {PLIMSOLL_OPS(NAME)};
 */
#ifndef PLIMSOLL_DEVICE_OPS_H
#define PLIMSOLL_DEVICE_OPS_H

enum {
  PLIMSOLL_OP_PRIMITIVE = 1,   /* has no parts: a device that cannot run it cannot run graphs with it */
  PLIMSOLL_OP_ELEMENTWISE = 2, /* element i of the output from element i of the inputs, broadcast as NumPy does; most
                                  have a meaning (plimsoll_node.meaning) */
  PLIMSOLL_OP_ALIAS = 4        /* the bytes of input 0 under another type: it never runs */
};

/* clang-format off */
#define PLIMSOLL_OPS(OP) \
  OP(absolute, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(adam_update, 6, 8, 3, 3, 0, "beta_1: real = 0.9, beta_2: real = 0.999, epsilon: real = 1e-07, weight_decay: real = 0.0") \
  OP(adam_update_rows, 7, 9, 3, 3, 0, "beta_1: real = 0.9, beta_2: real = 0.999, epsilon: real = 1e-07, weight_decay: real = 0.0") \
  OP(add, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(after, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(arccos, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(arccosh, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(arcsin, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(arcsinh, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(arctan, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(arctan2, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(arctanh, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(argmax, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer, keepdims: bool = false") \
  OP(argmin, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer, keepdims: bool = false") \
  OP(attention, 3, 4, 2, 2, 0, "scale: real, causal: bool = false") \
  OP(attention_grad, 6, 7, 3, 4, 0, "scale: real, causal: bool = false, bias: bool = false, dbias: bool = false") \
  OP(average_pool, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, pad_low: ints, pad_high: ints") \
  OP(average_pool_grad, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, pad_low: ints, pad_high: ints, input_shape: ints") \
  OP(batch_norm, 3, 4, 3, 3, 0, "epsilon: real = 0.001, activation: string = \"linear\", residual: bool = false") \
  OP(batch_norm_grad, 5, 7, 3, 4, 0, "epsilon: real = 0.001, activation: string = \"linear\", residual: bool = false, input_relu: bool = false") \
  OP(bessel_i0e, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(bessel_i1e, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(bitcast, 1, 1, 1, 1, PLIMSOLL_OP_ALIAS, "dtype: dtype") \
  OP(bitwise_and, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(bitwise_not, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(bitwise_or, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(bitwise_xor, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(broadcast_to, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "shape: ints") \
  OP(cast, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "dtype: dtype") \
  OP(cbrt, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(ceil, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(cholesky, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(clip, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "low: real, high: real") \
  OP(concatenate, 1, -1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer") \
  OP(cond, 1, -1, -1, -1, PLIMSOLL_OP_PRIMITIVE, "if_true: graph, if_false: graph") \
  OP(constant, 0, 0, 1, 1, 0, "value: tensor") \
  OP(conv, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "strides: ints = [], pad_low: ints = [], pad_high: ints = [], lhs_dilation: ints = [], rhs_dilation: ints = [], groups: integer = 1") \
  OP(conv_bias, 3, 5, 1, 1, 0, "strides: ints = [], pad_low: ints = [], pad_high: ints = [], lhs_dilation: ints = [], rhs_dilation: ints = [], groups: integer = 1, activation: string = \"linear\", scale: bool = false, residual: bool = false") \
  OP(conv_grad_filter, 2, 2, 1, 2, PLIMSOLL_OP_PRIMITIVE, "strides: ints = [], pad_low: ints = [], pad_high: ints = [], lhs_dilation: ints = [], rhs_dilation: ints = [], groups: integer = 1, kernel_shape: ints, bias: bool = false") \
  OP(conv_grad_input, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "strides: ints = [], pad_low: ints = [], pad_high: ints = [], lhs_dilation: ints = [], rhs_dilation: ints = [], groups: integer = 1, input_shape: ints") \
  OP(cos, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(cosh, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(cummax, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer, reverse: bool = false") \
  OP(cumprod, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer, reverse: bool = false") \
  OP(cumsum, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer, reverse: bool = false") \
  OP(custom_vjp, 1, -1, -1, -1, 0, "backward: graph, ys: integer, xs: integer") \
  OP(dense, 3, 3, 1, 1, 0, "activation: string = \"linear\"") \
  OP(divide, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(dot_general, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "a_contract: ints, b_contract: ints, a_batch: ints = [], b_batch: ints = []") \
  OP(dynamic_slice, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "sizes: ints") \
  OP(dynamic_update_slice, 3, 3, 1, 1, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(eigh, 1, 1, 2, 2, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(embedding, 2, 2, 1, 1, 0, "") \
  OP(embedding_grad, 2, 2, 1, 1, 0, "rows: integer") \
  OP(equal, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(erf, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(erfc, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(erfinv, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(exp, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(expm1, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(fft, 2, 2, 2, 2, PLIMSOLL_OP_PRIMITIVE, "inverse: bool = false") \
  OP(floor, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(floor_divide, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(fold_in, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(fused, 0, -1, -1, -1, 0, "body: graph") \
  OP(gamma_density, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(gather_nd, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(gelu, 1, 1, 1, 1, PLIMSOLL_OP_ELEMENTWISE, "approximate: bool = false") \
  OP(gelu_grad, 2, 2, 1, 1, PLIMSOLL_OP_ELEMENTWISE, "approximate: bool = false") \
  OP(greater, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(greater_equal, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(gru, 5, 5, 4, 4, 0, "reverse: bool = false") \
  OP(gru_grad, 8, 9, 4, 5, 0, "reverse: bool = false, given: integer, dx: bool = true") \
  OP(igamma, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(igammac, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(iota, 0, 0, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer, dtype: dtype, shape: ints") \
  OP(irfft, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "length: integer") \
  OP(isfinite, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(layer_norm, 3, 3, 3, 3, 0, "epsilon: real") \
  OP(layer_norm_grad, 5, 5, 3, 3, 0, "") \
  OP(left_shift, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(less, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(less_equal, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(log, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(log1p, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(log_softmax, 1, 1, 1, 1, 0, "axis: integer = -1") \
  OP(log_softmax_grad, 2, 2, 1, 1, 0, "axis: integer = -1") \
  OP(logical_not, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(lstm, 6, 6, 5, 5, 0, "reverse: bool = false") \
  OP(lstm_grad, 9, 11, 5, 6, 0, "reverse: bool = false, given: integer, dx: bool = true") \
  OP(lu, 1, 1, 3, 3, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(max_pool, 1, 1, 1, 2, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, pad_low: ints, pad_high: ints, index: bool = true") \
  OP(max_pool_grad, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, pad_low: ints, pad_high: ints, input_shape: ints") \
  OP(max_pool_take, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, pad_low: ints, pad_high: ints") \
  OP(maximum, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(minimum, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(mod, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(multiply, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(negative, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(not_equal, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(pad, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "high: ints, interior: ints = [], low: ints, value: real = 0.0") \
  OP(power, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(qr, 1, 1, 2, 2, PLIMSOLL_OP_PRIMITIVE, "complete: bool = false") \
  OP(random_bits, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "shape: ints") \
  OP(random_bits_at, 1, 1, 1, 1, 0, "first: integer, shape: ints") \
  OP(random_normal, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "dtype: dtype, mean: real = 0.0, shape: ints, stddev: real = 1.0") \
  OP(random_normal_at, 1, 1, 1, 1, 0, "dtype: dtype, first: integer, mean: real = 0.0, shape: ints, stddev: real = 1.0") \
  OP(random_uniform, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "dtype: dtype, high: real = 1.0, low: real = 0.0, shape: ints") \
  OP(random_uniform_at, 1, 1, 1, 1, 0, "dtype: dtype, first: integer, high: real = 1.0, low: real = 0.0, shape: ints") \
  OP(reciprocal, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(reduce_and, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints = [], keepdims: bool = false") \
  OP(reduce_max, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints = [], keepdims: bool = false") \
  OP(reduce_min, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints = [], keepdims: bool = false") \
  OP(reduce_or, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints = [], keepdims: bool = false") \
  OP(reduce_prod, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints = [], keepdims: bool = false") \
  OP(reduce_sum, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints = [], keepdims: bool = false") \
  OP(reduce_window_max, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, low: ints, high: ints") \
  OP(reduce_window_sum, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, low: ints, high: ints") \
  OP(relu, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(rem, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(remat, 0, -1, -1, -1, 0, "body: graph, operands: integer") \
  OP(reshape, 1, 1, 1, 1, PLIMSOLL_OP_ALIAS, "shape: ints") \
  OP(reverse, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axes: ints") \
  OP(rfft, 1, 1, 2, 2, PLIMSOLL_OP_PRIMITIVE, "") \
  OP(right_shift, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(rmsprop_update, 4, 7, 2, 3, 0, "rho: real = 0.9, momentum: real = 0.0, epsilon: real = 1e-07") \
  OP(round, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(rsqrt, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(scan, 0, -1, -1, -1, PLIMSOLL_OP_PRIMITIVE, "body: graph, carries: integer, xs: integer, length: integer, reverse: bool = false, save: bool = false") \
  OP(scatter_nd, 3, 3, 1, 1, PLIMSOLL_OP_PRIMITIVE, "mode: string = \"set\"") \
  OP(select_and_gather, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, low: ints, high: ints") \
  OP(select_and_scatter_add, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "window: ints, strides: ints, low: ints, high: ints") \
  OP(sgd_update, 3, 6, 1, 2, 0, "momentum: real = 0.0, nesterov: bool = false") \
  OP(sigmoid, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(sign, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(sin, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(sinh, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(slice, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "limits: ints, starts: ints, strides: ints = []") \
  OP(softmax, 1, 1, 1, 1, 0, "axis: integer = -1") \
  OP(softmax_cross_entropy, 2, 2, 2, 2, 0, "") \
  OP(softmax_cross_entropy_grad, 4, 4, 1, 1, 0, "") \
  OP(softmax_grad, 2, 2, 1, 1, 0, "axis: integer = -1") \
  OP(sort, 1, -1, 1, 3, PLIMSOLL_OP_PRIMITIVE, "axis: integer = -1") \
  OP(sparse_softmax_cross_entropy, 2, 2, 2, 2, 0, "") \
  OP(sparse_softmax_cross_entropy_grad, 4, 4, 1, 1, 0, "") \
  OP(sqrt, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(square, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(stop_gradient, 1, 1, 1, 1, PLIMSOLL_OP_ALIAS, "") \
  OP(subtract, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(svd, 1, 1, 3, 3, PLIMSOLL_OP_PRIMITIVE, "full: bool = false") \
  OP(take, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "axis: integer = 0") \
  OP(tan, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(tanh, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(top_k, 1, 1, 2, 2, PLIMSOLL_OP_PRIMITIVE, "k: integer") \
  OP(transpose, 1, 1, 1, 1, PLIMSOLL_OP_PRIMITIVE, "permutation: ints") \
  OP(triangular_solve, 2, 2, 1, 1, PLIMSOLL_OP_PRIMITIVE, "lower: bool, transposed: bool = false") \
  OP(where, 3, 3, 1, 1, PLIMSOLL_OP_PRIMITIVE | PLIMSOLL_OP_ELEMENTWISE, "") \
  OP(while_loop, 1, -1, -1, -1, PLIMSOLL_OP_PRIMITIVE, "test: graph, body: graph")
/* clang-format on */

#endif
