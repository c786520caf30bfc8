// Every registered kernel against NumPy and SciPy, and a list of what met which case. A kernel that no case
// reaches fails its op's test; so does one that is never the first to fit, because nothing would run it.
#include <cstdio>
#include <set>

#include "op_sweep/golden.h"
#include "op_sweep/kernel_cases.h"
#include "op_sweep/run_kernel.h"
#include "op_sweep/sweep_test.h"
#include "op_sweep/targets.h"

namespace plimsoll::testing {
namespace {

constexpr double kReferenceFlops = 2e7;

// What one row of an op's table has been through.
struct Met {
  std::string kernel;
  int cases = 0, chosen = 0;
  std::string first_key = {};
  std::set<std::string> names = {};  // of the kernels that it made
};

// Why this machine cannot run the kernel; empty if it can.
std::string excuse(const OpDef& op, const KernelDef& def) {
  if (def.name != "onednn") return "";
#if !PLIMSOLL_HAVE_ONEDNN
  return "this build has no oneDNN";
#endif
  const bool product = op.name == "dot_general" || op.name == "dense";
  const bool avx512 = (hwy::SupportedTargets() & (HWY_AVX3 | (HWY_AVX3 - 1))) != 0;
  return product && !avx512 ? "oneDNN has a product of its own from AVX-512 on" : "";
}

void print(const OpDef& op, const Met& met, const std::string& why_not) {
  std::string names;
  for (const std::string& name : met.names) names += (names.empty() ? "" : ", ") + name;
  const std::string key = met.first_key.substr(0, met.first_key.find('\n'));
  std::printf("[ KERNEL   ] %s / %s: %s\n", std::string(op.name).c_str(), met.kernel.c_str(),
              met.cases == 0 ? ("NOT RUN: " + why_not).c_str()
                             : concat(met.cases, " cases against NumPy, first to fit in ", met.chosen, " (",
                                      names, "), such as ", key)
                                   .c_str());
}

class Oracle {
 public:
  explicit Oracle(const OpDef& op) : op_(op) {
    for (const KernelDef& def : op.kernels) met_.push_back({std::string(def.name)});
    if (op.tile != nullptr) met_.push_back({"tiles"});
  }

  // Every kernel that fits, with each number of threads; of our own ones only, if `own`.
  void check(const SweepCase& c, const OpGoldens& goldens, std::initializer_list<int> threads,
             bool own = false) {
    SCOPED_TRACE(c.key);
    const std::vector<Tensor> inputs = make_inputs(c, goldens.seed());
    bool first = true;
    for (size_t k = 0; k < met_.size(); ++k) {
      if (own && (met_[k].kernel == "onednn" || met_[k].kernel == "reference")) continue;
      for (const int n : threads) {
        if (is_reference(k) && (n > 1 || cost_of({op_, types_of(c), c.attrs}, c.out).flops > kReferenceFlops))
          break;
        SCOPED_TRACE(concat("kernel ", met_[k].kernel, ", ", n, " threads"));
        const KernelRun run = run_row(k, c, inputs, n);
        if (run.out.empty()) break;
        compare(c, goldens, run.out);
        if (n != *threads.begin()) continue;
        note(met_[k], c, run.name, first);
        first = false;
      }
    }
  }

  // An op with a sub-graph needs a compiler: it runs as a program.
  void check_program(const SweepCase& c, const OpGoldens& goldens) {
    SCOPED_TRACE(c.key);
    CompileOptions options;
    options.skip_passes = {"all"};
    compare(c, goldens, run(op_graph(c), make_inputs(c, goldens.seed()), options));
    const size_t k = first_to_fit(c);
    if (k < op_.kernels.size()) note(met_[k], c, std::string(op_.kernels[k].name), true);
  }

  void expect_all_met() const {
    for (size_t k = 0; k < met_.size(); ++k) {
      const std::string why_not = k < op_.kernels.size() ? excuse(op_, op_.kernels[k]) : "";
      print(op_, met_[k], why_not);
      EXPECT_TRUE(met_[k].cases > 0 || !why_not.empty())
          << op_.name << "'s kernel " << met_[k].kernel << " (number " << k
          << ") has met no outside value: add a case that it fits to tests/op_sweep/kernel_cases_*.cpp";
      EXPECT_TRUE(met_[k].chosen > 0 || !why_not.empty() || is_reference(k))
          << op_.name << "'s kernel " << met_[k].kernel << " (number " << k << ") is never the first to fit";
    }
  }

 private:
  // What the others are tested against: plain loops, for which large cases have nothing new.
  bool is_reference(size_t k) const { return k + 1 == met_.size() && k > 0; }

  // What a program takes.
  size_t first_to_fit(const SweepCase& c) const {
    const std::vector<TensorType> in = types_of(c);
    const KernelQuery query{.in = in, .out = c.out, .attrs = c.attrs, .threads = 1, .compiler = nullptr};
    size_t k = 0;
    while (k < op_.kernels.size() && op_.kernels[k].fits && !op_.kernels[k].fits(query)) ++k;
    return k;
  }

  KernelRun run_row(size_t k, const SweepCase& c, const std::vector<Tensor>& inputs, int threads) const {
    return k < op_.kernels.size() ? run_kernel(op_.kernels[k], c, inputs, threads)
                                  : run_tile(c, inputs, threads);
  }

  static void note(Met& met, const SweepCase& c, const std::string& name, bool first) {
    if (met.cases++ == 0) met.first_key = c.key;
    met.chosen += first ? 1 : 0;
    met.names.insert(name);
  }

  static void compare(const SweepCase& c, const OpGoldens& goldens, const std::vector<Tensor>& out) {
    ASSERT_EQ(out.size(), c.out.size());
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(goldens.compare(c, i, out[i]), "") << "output " << i;
  }

  const OpDef& op_;
  std::vector<Met> met_;
};

}  // namespace

TEST_P(OpSweep, EveryKernelMeetsTheOracle) {
  Oracle oracle(op());
  for (const SweepCase& c : sweep_cases(op())) oracle.check(c, OpGoldens::get(), {1});
  for (const SweepCase& c : kernel_cases(op())) {
    has_graph_attr(c) ? oracle.check_program(c, OpGoldens::of_kernels())
                      : oracle.check(c, OpGoldens::of_kernels(), {1, 2});
  }
  oracle.expect_all_met();
}

// The kernels are built for several of Highway's targets: the others that this processor has.
TEST_P(OpSweep, EveryTargetMeetsTheOracle) {
  const RestoreTargets restore;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (target == best_target()) continue;
    SCOPED_TRACE(hwy::TargetName(target));
    choose_targets(target);
    Oracle oracle(op());
    for (const SweepCase& c : kernel_cases(op())) {
      if (!has_graph_attr(c)) oracle.check(c, OpGoldens::of_kernels(), {1}, true);
    }
  }
}

}  // namespace plimsoll::testing
