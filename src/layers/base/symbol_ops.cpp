#include "plimsoll/layers/symbol_ops.h"

#include "plimsoll/layers/merging.h"
#include "plimsoll/layers/preprocessing.h"

namespace plimsoll {
namespace {

Symbol scaled(const Symbol& x, double scale, double offset) {
  return Rescaling(scale, {.offset = {offset}})(x);
}

}  // namespace

Symbol operator+(const Symbol& a, const Symbol& b) { return Add()({a, b}); }
Symbol operator-(const Symbol& a, const Symbol& b) { return Subtract()({a, b}); }
Symbol operator*(const Symbol& a, const Symbol& b) { return Multiply()({a, b}); }
Symbol operator+(const Symbol& a, double b) { return scaled(a, 1, b); }
Symbol operator-(const Symbol& a, double b) { return scaled(a, 1, -b); }
Symbol operator*(const Symbol& a, double b) { return scaled(a, b, 0); }
Symbol operator/(const Symbol& a, double b) { return scaled(a, 1 / b, 0); }
Symbol operator+(double a, const Symbol& b) { return scaled(b, 1, a); }
Symbol operator-(double a, const Symbol& b) { return scaled(b, -1, a); }
Symbol operator*(double a, const Symbol& b) { return scaled(b, a, 0); }
Symbol operator-(const Symbol& a) { return scaled(a, -1, 0); }

}  // namespace plimsoll
