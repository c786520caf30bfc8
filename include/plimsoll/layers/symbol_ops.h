// Arithmetic on Symbols: calls of keras.ops, which Keras keeps in files under the same names. As there, numbers
// take the Symbol's dtype, and a real number makes integers float32; x[...] is in layer.h.
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

Symbol operator+(const Symbol& a, const Symbol& b);
Symbol operator-(const Symbol& a, const Symbol& b);
Symbol operator*(const Symbol& a, const Symbol& b);
Symbol operator/(const Symbol& a, const Symbol& b);
Symbol operator+(const Symbol& a, double b);
Symbol operator-(const Symbol& a, double b);
Symbol operator*(const Symbol& a, double b);
Symbol operator/(const Symbol& a, double b);
Symbol operator+(double a, const Symbol& b);
Symbol operator-(double a, const Symbol& b);
Symbol operator*(double a, const Symbol& b);
Symbol operator/(double a, const Symbol& b);
Symbol operator-(const Symbol& a);

Symbol power(const Symbol& a, const Symbol& b);
Symbol power(const Symbol& a, double b);
Symbol maximum(const Symbol& a, const Symbol& b);
Symbol minimum(const Symbol& a, const Symbol& b);
Symbol matmul(const Symbol& a, const Symbol& b);
Symbol exp(const Symbol& x);
Symbol log(const Symbol& x);
Symbol sqrt(const Symbol& x);
Symbol square(const Symbol& x);
Symbol absolute(const Symbol& x);
// Axes count the batch as 0. No axes: all of them, the batch too.
Symbol sum(const Symbol& x, const Ints& axes = {}, bool keepdims = false);
Symbol mean(const Symbol& x, const Ints& axes = {}, bool keepdims = false);
Symbol max(const Symbol& x, const Ints& axes = {}, bool keepdims = false);
Symbol min(const Symbol& x, const Ints& axes = {}, bool keepdims = false);
Symbol transpose(const Symbol& x, const Ints& axes);

}  // namespace plimsoll
#pragma GCC visibility pop
