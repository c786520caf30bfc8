// What element-wise ops say they compute (Tile::meaning), printed as C, compiled by the system's compiler and
// run beside the vector kernels: the same bits where all operations are exact, else within the op's
// tolerance.
#include "device/element_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "device/cpu/denormals.h"
#include "element_source/c_library.h"
#include "element_source/element_cases.h"
#include "ops/fused.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

std::vector<Tensor> outputs_of(const ElementCase& c) {
  std::vector<Tensor> out;
  for (const TensorType& t : c.outputs) {
    out.push_back(Tensor::empty(t.dtype, t.shape));
    std::memset(out.back().data(), 0xA5, static_cast<size_t>(byte_size(t.dtype, t.shape)));
  }
  return out;
}

Tensor flushed(const Tensor& t) {
  const Tensor copy = Tensor::from_bytes(t.dtype(), t.shape(), t.data());
  const auto flush = [&](auto sign, auto exponent) {
    auto* const bits = static_cast<decltype(sign)*>(copy.data());
    for (int64_t i = 0; i < copy.shape().elements(); ++i) {
      if ((bits[i] & exponent) == 0) bits[i] &= sign;
    }
  };
  if (t.dtype() == DType::bf16) flush(uint16_t{0x8000}, uint16_t{0x7F80});
  if (t.dtype() == DType::f32) flush(uint32_t{1} << 31, uint32_t{0x7F800000});
  if (t.dtype() == DType::f64) flush(uint64_t{1} << 63, uint64_t{0x7FF} << 52);
  return copy;
}

std::vector<Tensor> flushed(const std::vector<Tensor>& list) {
  std::vector<Tensor> out;
  for (const Tensor& t : list) out.push_back(flushed(t));
  return out;
}

std::vector<void*> arguments(const std::vector<Tensor>& in, const std::vector<Tensor>& out) {
  std::vector<void*> args;
  for (const Tensor& t : in) args.push_back(t.data());
  for (const Tensor& t : out) args.push_back(t.data());
  return args;
}

int argument_count(const ElementCase& c) { return static_cast<int>(c.inputs.size() + c.outputs.size()); }

std::vector<Tensor> run_kernel(const ElementCase& c) {
  const std::vector<Tensor> out = outputs_of(c);
  std::vector<void*> args = arguments(c.inputs, out);
  const Kernel kernel = c.program.build("tiles", argument_count(c), 1);
  const Tensor scratch = Tensor::empty(DType::u8, {std::max<int64_t>(1, kernel.scratch)});
  args.push_back(scratch.data());
  kernel.run(kernel.state.get(), args.data());
  return out;
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

// Empty if all bits are the same; any NaN is as good as another, and so is any zero where they are open.
std::string bit_difference_but_nan(const Tensor& got, const Tensor& want, bool any_zero) {
  const size_t size = size_of(want.dtype());
  for (int64_t i = 0; i < want.shape().elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(static_cast<char*>(got.data()) + at, static_cast<char*>(want.data()) + at, size) == 0)
      continue;
    const double g = element(got, i), w = element(want, i);
    if ((std::isnan(g) && std::isnan(w)) || (any_zero && g == 0 && w == 0)) continue;
    return concat("element ", i, " of ", want.type(), ": got ", number(g), ", want ", number(w));
  }
  return "";
}

// Each element for itself: at the edges there is always one that is far larger than the others.
std::string relative_difference(const Tensor& got, const Tensor& want, double tolerance) {
  const double least = want.dtype() == DType::f64   ? 0x1p-1022
                       : want.dtype() == DType::f16 ? 0x1p-14
                                                    : 0x1p-126;
  for (int64_t i = 0; i < want.shape().elements(); ++i) {
    const double g = element(got, i), w = element(want, i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const bool finite = std::isfinite(g) && std::isfinite(w);
    if (finite && std::fabs(g - w) <= tolerance * std::fabs(w) + least) continue;
    return concat("element ", i, " of ", want.type(), ": got ", number(g), ", want ", number(w), ", allowed ",
                  number(tolerance));
  }
  return "";
}

using Difference = std::string (*)(const Tensor& got, const Tensor& want, double tolerance);

std::string of_the_largest(const Tensor& got, const Tensor& want, double tolerance) {
  return difference(got, want, tolerance);
}
// Values are of order 1, but a sum may be small by cancellation.
std::string of_order_one(const Tensor& got, const Tensor& want, double tolerance) {
  return difference(got, want, tolerance, 0.1);
}

std::string first_difference(const ElementCase& c, const std::vector<Tensor>& got,
                             const std::vector<Tensor>& want, Difference inexact) {
  for (size_t o = 0; o < got.size(); ++o) {
    const std::string how = is_exact(c.program)
                                ? bit_difference_but_nan(got[o], want[o], leaves_zeros_open(c.program))
                                : inexact(got[o], want[o], tolerance_for(4 * c.tolerance, want[o].dtype()));
    if (!how.empty()) return concat("output ", o, ": ", how);
  }
  return "";
}

// Denormals as zeros: a device may take them so wherever it meets them, and the engine mostly does.
void compare(const std::vector<ElementCase>& cases, Difference inexact) {
  CLibrary library;
  for (const ElementCase& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_NO_THROW(library.add(c.program, argument_count(c)));
  }
  ASSERT_NO_THROW(library.compile());
  const FlushDenormals as_the_engine_does;
  for (size_t i = 0; i < cases.size(); ++i) {
    const ElementCase& c = cases[i];
    const std::vector<Tensor> want = flushed(run_kernel(c)), got = outputs_of(c), zeroed = flushed(c.inputs);
    library.run(i, arguments(zeroed, got));
    std::string how = first_difference(c, flushed(got), want, inexact);
    if (!how.empty()) {
      library.run(i, arguments(c.inputs, got));
      how = first_difference(c, flushed(got), want, inexact);
    }
    EXPECT_EQ(how, "") << c.name;
  }
}

template <class F>
std::vector<ElementCase> of_all_ops(const F& cases_of_op) {
  std::vector<ElementCase> all;
  for (const OpDef* op : elementwise_ops()) {
    for (ElementCase& c : cases_of_op(*op)) all.push_back(std::move(c));
  }
  return all;
}

std::string language_page() {
  std::ostringstream text;
  text << std::ifstream(PLIMSOLL_LANGUAGE_PAGE).rdbuf();
  return text.str();
}

}  // namespace

// Devices get the text as a C string.
TEST(ElementSource, EveryTileHasAMeaning) {
  for (const OpDef* op : elementwise_ops()) {
    SCOPED_TRACE(op->name);
    const std::vector<ElementCase> cases = edge_cases(*op);
    EXPECT_FALSE(cases.empty());
    for (const ElementCase& c : cases) {
      const std::string_view meaning = c.program.calls()[0].tile.meaning;
      ASSERT_FALSE(meaning.empty()) << c.name;
      EXPECT_EQ(meaning.data()[meaning.size()], '\0') << c.name;
    }
  }
}

TEST(ElementSource, GivesTheVectorKernelsValues) { compare(of_all_ops(cases_of), of_the_largest); }

// NaN, infinities, zeros, denormals, the largest and the smallest, shifts by too much, division by zero.
TEST(ElementSource, GivesTheVectorKernelsValuesAtTheEdges) {
  compare(of_all_ops(edge_cases), relative_difference);
}

TEST(ElementSource, FoldsAsTheVectorKernelsDo) { compare(reduction_cases(), of_the_largest); }

// Chains as the passes fuse them, with broadcasts, other orders of axes, constants and reductions.
TEST(ElementSource, FusedChainsGiveTheVectorKernelsValues) {
  std::vector<ElementCase> cases;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    for (ElementCase& c : fused_cases(seed)) cases.push_back(std::move(c));
  }
  ASSERT_GT(cases.size(), 100u);
  compare(cases, of_order_one);
}

// Halves are rounded after every op, as the tile engine does: else bits would differ here.
TEST(ElementSource, ExactChainsGiveTheVectorKernelsBits) {
  std::vector<ElementCase> cases;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    cases.push_back(exact_chain(seed));
    ASSERT_TRUE(is_exact(cases.back().program)) << cases.back().name;
  }
  compare(cases, of_the_largest);
}

TEST(ElementSource, RefusesAnOpWithoutAText) {
  const DType type = DType::f32;
  const std::string operand = "x";
  EXPECT_THROW(element_statements({}, {&operand, 1}, {&type, 1}, "y", type), Error);
}

TEST(ElementSource, RefusesWhatIsNotInTheLanguage) {
  const std::string operand = "x";
  EXPECT_THROW(element_expression("gamma(a)", {&operand, 1}, DType::f32), Error);
  EXPECT_THROW(element_expression("exp(a)", {&operand, 1}, DType::i32), Error);
  EXPECT_THROW(element_expression("shl(a, 1)", {&operand, 1}, DType::f32), Error);
  EXPECT_THROW(element_expression("a + b", {&operand, 1}, DType::f32), Error);
}

TEST(ElementSource, LiteralsReadBackAsTheyWere) {
  const auto text = [](auto value, DType type) { return element_literal(&value, type); };
  EXPECT_EQ(text(0.1f, DType::f32), "0.1f");
  EXPECT_EQ(text(-2.0, DType::f64), "(-2.0)");
  EXPECT_EQ(text(-0.0f, DType::f32), "(-0.0f)");
  EXPECT_EQ(text(1e30f, DType::f32), "1e+30f");
  EXPECT_EQ(text(uint16_t{0x3C01}, DType::f16), "1.0009766f");
  EXPECT_EQ(text(INT64_MIN, DType::i64), "(-9223372036854775807LL - 1)");
  EXPECT_EQ(text(UINT64_MAX, DType::u64), "18446744073709551615ULL");
  EXPECT_EQ(text(int8_t{-3}, DType::i8), "(-3)");
}

TEST(ElementSource, ThePageNamesEveryFunction) {
  const std::string page = language_page();
  for (const ElementFunction& f : element_functions())
    EXPECT_NE(page.find(concat("`", f.name, "(")), page.npos) << f.name;
}

TEST(ElementSource, ThePagesExampleIsWhatIsPrinted) {
  Graph body;
  const Tensor x = body.input("x", DType::f32, {32, 64}), bias = body.input("bias", DType::f32, {64});
  const Tensor y = clip(x + bias, 0, 6);
  body.output("y", cast(y, DType::f16));
  body.output("sum", sum(y, {0}));
  const ElementSource source = element_source(tile_program(body), 4);
  EXPECT_NE(language_page().find(source.text), std::string::npos) << source.text;
}

}  // namespace plimsoll::testing
