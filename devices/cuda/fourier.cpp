// fft, rfft and irfft along the last axis, by the definition: sums over all points, in double. Complex
// numbers are pairs of tensors.
#include "ops.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

struct Transform {
  bool half = false;  // the input is the first half of numbers whose second mirrors it (irfft)
  int sign = -1;      // of the exponent; 1 for the inverse, which divides by the points too
};

void transform(Build& b, const Transform& t) {
  const Type x = b.node.in(0), out = b.node.out(0);
  if (out.count() == 0) return;
  const int64_t given = x.sizes.back(), kept = out.sizes.back();
  const int64_t points = std::max(given, kept);
  const bool complex_in = b.node.input_count() == 2, complex_out = b.node.output_count() == 2;
  std::vector<std::string_view> types(1 + complex_in, stored(x.dtype));
  std::vector<Ref> args = {b.in(0)};
  if (complex_in) args.push_back(b.in(1));
  const size_t to = args.size();
  const auto store = [&](size_t k, std::string_view sum) {
    types.push_back(stored(out.dtype));
    args.push_back(b.out(k));
    return concat("arg", to + k, "[at] = ",
                  store_element(concat("(", computed(out.dtype), ")(", sum,
                                       t.sign > 0 ? concat(" / ", points, ".0") : "", ")"),
                                out.dtype),
                  ";\n");
  };
  // What has no mirror image counts as real.
  std::string imaginary = "0.0";
  if (complex_in) {
    imaginary = concat("(double)", load_element("arg1[from]", x.dtype));
    if (t.half) imaginary = concat("(j == 0 || 2 * j == ", points, " ? 0.0 : ", imaginary, ")");
  }
  std::string body = concat(
      "const int64_t k = at % ", kept, ", row = at / ", kept, ";\ndouble re = 0, im = 0;\n",
      "for (int64_t j = 0; j < ", points, "; ++j) {\nconst bool mirrored = j >= ", given,
      ";\nconst int64_t from = row * ", given, " + (mirrored ? ", points,
      " - j : j);\nconst double a = ", load_element("arg0[from]", x.dtype), ", b = mirrored ? -", imaginary,
      " : ", imaginary, ";\ndouble s, c;\nsincospi(2.0 * (double)(j * k % ", points, ") / ", points,
      ".0, &s, &c);\ns *= ", t.sign, ";\nre += a * c - b * s;\nim += b * c + a * s;\n}\n", store(0, "re"));
  if (complex_out) body += store(1, "im");
  b.each(parameters(types, to), out.count(), body, std::move(args));
}

void fft(Build& b) { transform(b, {.half = false, .sign = b.node.integer("inverse") != 0 ? 1 : -1}); }
void rfft(Build& b) { transform(b, {}); }
void irfft(Build& b) { transform(b, {.half = true, .sign = 1}); }

}  // namespace

std::span<const Op> fourier_ops() {
  static const Op ops[] = {
      {.name = "fft", .lower = fft},
      {.name = "rfft", .lower = rfft},
      {.name = "irfft", .lower = irfft},
  };
  return ops;
}

}  // namespace plimsoll::cuda
