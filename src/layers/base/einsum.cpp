#include "layers/base/einsum.h"

#include "plimsoll/attrs.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

bool has(std::string_view letters, char c) { return letters.find(c) != std::string_view::npos; }

void check_operand(std::string_view letters, const Tensor& x, std::string_view equation,
                   std::string_view place) {
  require(std::ssize(letters) == x.rank(), place, "the equation ", equation, " expects ", letters.size(),
          " axes where the shape is ", x.shape());
  for (size_t i = 0; i < letters.size(); ++i) {
    if (has(letters.substr(i + 1), letters[i])) {
      fail(ErrorKind::unsupported, place, "the equation ", equation, " has a letter twice in one operand");
    }
  }
}

}  // namespace

Tensor einsum(std::string_view equation, const Tensor& a, const Tensor& b, std::string_view place) {
  const size_t comma = equation.find(',');
  const size_t arrow = equation.find("->");
  require(comma != std::string_view::npos && arrow != std::string_view::npos && comma < arrow, place,
          "expected an equation such as ab,bc->ac, got ", equation);
  const std::string_view in_a = equation.substr(0, comma);
  const std::string_view in_b = equation.substr(comma + 1, arrow - comma - 1);
  const std::string_view out = equation.substr(arrow + 2);
  check_operand(in_a, a, equation, place);
  check_operand(in_b, b, equation, place);

  Ints sum_a, sum_b, batch_a, batch_b;
  std::string batch, free_a, free_b;
  for (size_t i = 0; i < in_a.size(); ++i) {
    const size_t j = in_b.find(in_a[i]);
    if (j == std::string_view::npos) {
      free_a += in_a[i];
      continue;
    }
    require(a.dim(static_cast<int>(i)) == b.dim(static_cast<int>(j)), place, "the equation ", equation,
            " does not fit shapes ", a.shape(), " and ", b.shape());
    const bool kept = has(out, in_a[i]);
    (kept ? batch_a : sum_a).push_back(static_cast<int64_t>(i));
    (kept ? batch_b : sum_b).push_back(static_cast<int64_t>(j));
    if (kept) batch += in_a[i];
  }
  for (const char c : in_b) {
    if (!has(in_a, c)) free_b += c;
  }
  const std::string made = batch + free_a + free_b;
  Ints order;
  for (const char c : out) {
    const size_t at = made.find(c);
    require(at != std::string::npos, place, "the equation ", equation, " asks for '", c,
            "', which no operand has");
    order.push_back(static_cast<int64_t>(at));
  }
  if (order.size() != made.size()) {
    fail(ErrorKind::unsupported, place, "the equation ", equation,
         " sums over a letter that only one operand has");
  }
  const Tensor y = dot_general(a, b, sum_a, sum_b, batch_a, batch_b);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return transpose(y, order);
  }
  return y;
}

}  // namespace plimsoll
