// Learning rate schedules, in float32 as Keras computes them.
#include <numbers>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/optimizers.h"

namespace plimsoll {
namespace {

Tensor number(double value) { return Tensor::full(DType::f32, {}, value); }

// Keras's configs carry a name that nothing looks at.
struct NamedSchedule : ScheduleBase {
  explicit NamedSchedule(std::string_view name) : name(name) {}
  std::string name;
};

void require_steps(std::string_view place, double steps) {
  require(steps > 0, place, "expected decay steps > 0, got ", steps);
}

struct TimedDecay : NamedSchedule {
  using NamedSchedule::NamedSchedule;
  double initial = 0, steps = 1, decay = 1;
  bool staircase = false;
  void fields(Fields& f) override {
    f("initial_learning_rate", initial);
    f("decay_steps", steps);
    f("decay_rate", decay);
    f("staircase", staircase);
    f("name", name);
  }
  Tensor done(const Tensor& step) const {
    const Tensor p = step / steps;
    return staircase ? floor(p) : p;
  }
};

struct Exponential final : TimedDecay {
  Exponential() : TimedDecay("ExponentialDecay") {}
  std::string_view class_name() const override { return "ExponentialDecay"; }
  Tensor rate(const Tensor& step) override { return initial * power(number(decay), done(step)); }
};

struct InverseTime final : TimedDecay {
  InverseTime() : TimedDecay("InverseTimeDecay") {}
  std::string_view class_name() const override { return "InverseTimeDecay"; }
  Tensor rate(const Tensor& step) override { return initial / (1.0 + decay * done(step)); }
};

struct Piecewise final : NamedSchedule {
  Piecewise() : NamedSchedule("PiecewiseConstant") {}
  std::vector<double> boundaries, values = {0};
  std::string_view class_name() const override { return "PiecewiseConstantDecay"; }
  void fields(Fields& f) override {
    f("boundaries", boundaries);
    f("values", values);
    f("name", name);
  }
  Tensor rate(const Tensor& step) override {
    require(values.size() == boundaries.size() + 1, class_name(),
            "expected one value more than boundaries, got ", values.size(), " and ", boundaries.size());
    Tensor result = step * 0.0 + values.back();
    for (size_t i = boundaries.size(); i-- > 0;) {
      result = where(less_equal(step, number(boundaries[i])), number(values[i]), result);
    }
    return result;
  }
};

struct Polynomial final : NamedSchedule {
  Polynomial() : NamedSchedule("PolynomialDecay") {}
  double initial = 0, steps = 1;
  PolynomialDecayOptions o;
  std::string_view class_name() const override { return "PolynomialDecay"; }
  void fields(Fields& f) override {
    f("initial_learning_rate", initial);
    f("decay_steps", steps);
    f("end_learning_rate", o.end_learning_rate);
    f("power", o.power);
    f("cycle", o.cycle);
    f("name", name);
  }
  Tensor rate(const Tensor& step) override {
    Tensor p = minimum(step, number(steps)) / steps;
    if (o.cycle) {
      const Tensor rounds = where(equal(step, number(0)), number(1), ceil(step / steps));
      p = step / (steps * rounds);
    }
    return (initial - o.end_learning_rate) * power(1.0 - p, number(o.power)) + o.end_learning_rate;
  }
};

struct Cosine final : NamedSchedule {
  Cosine() : NamedSchedule("CosineDecay") {}
  double initial = 0, steps = 1;
  CosineDecayOptions o;
  std::string_view class_name() const override { return "CosineDecay"; }
  void fields(Fields& f) override {
    f("initial_learning_rate", initial);
    f("decay_steps", steps);
    f("alpha", o.alpha);
    f("name", name);
    f("warmup_target", o.warmup_target);
    f("warmup_steps", o.warmup_steps);
  }
  Tensor decayed(const Tensor& step, double from) const {
    const Tensor wave = 0.5 * (1.0 + cos(std::numbers::pi * (step / steps)));
    return from * ((1 - o.alpha) * wave + o.alpha);
  }
  Tensor rate(const Tensor& step) override {
    if (!o.warmup_target) return decayed(minimum(step, number(steps)), initial);
    const Tensor now = minimum(step, number(steps + o.warmup_steps));
    const Tensor warm = (*o.warmup_target - initial) * (now / std::max(o.warmup_steps, 1e-30)) + initial;
    return where(less(now, number(o.warmup_steps)), warm, decayed(now - o.warmup_steps, *o.warmup_target));
  }
};

struct CosineRestarts final : NamedSchedule {
  CosineRestarts() : NamedSchedule("SGDRDecay") {}
  double initial = 0, steps = 1;
  CosineDecayRestartsOptions o;
  std::string_view class_name() const override { return "CosineDecayRestarts"; }
  void fields(Fields& f) override {
    f("initial_learning_rate", initial);
    f("first_decay_steps", steps);
    f("t_mul", o.t_mul);
    f("m_mul", o.m_mul);
    f("alpha", o.alpha);
    f("name", name);
  }
  Tensor rate(const Tensor& step) override {
    Tensor done = step / steps;
    Tensor restart;
    if (o.t_mul == 1) {
      restart = floor(done);
      done = done - restart;
    } else {
      restart = floor(log(1.0 - done * (1 - o.t_mul)) / log(number(o.t_mul)));
      const Tensor length = power(number(o.t_mul), restart);
      done = (done - (1.0 - length) / (1 - o.t_mul)) / length;
    }
    const Tensor wave = 0.5 * power(number(o.m_mul), restart) * (1.0 + cos(std::numbers::pi * done));
    return initial * ((1 - o.alpha) * wave + o.alpha);
  }
};

template <class T>
Schedule timed(double initial, double steps, double decay, const DecayOptions& options) {
  auto made = std::make_shared<T>();
  require_steps(made->class_name(), steps);
  made->initial = initial;
  made->steps = steps;
  made->decay = decay;
  made->staircase = options.staircase;
  return made;
}

template <class T, class Options>
Schedule with_options(double initial, double steps, const Options& options) {
  auto made = std::make_shared<T>();
  require_steps(made->class_name(), steps);
  made->initial = initial;
  made->steps = steps;
  made->o = options;
  return made;
}

}  // namespace

Schedule ExponentialDecay(double initial, double steps, double decay, const DecayOptions& o) {
  return timed<Exponential>(initial, steps, decay, o);
}
Schedule InverseTimeDecay(double initial, double steps, double decay, const DecayOptions& o) {
  return timed<InverseTime>(initial, steps, decay, o);
}
LearningRate::LearningRate(Schedule given) : schedule(std::move(given)) {
  require(bool(schedule), "learning_rate", "expected a number or a schedule, got none");
}

Schedule PiecewiseConstantDecay(std::vector<double> boundaries, std::vector<double> values) {
  require(values.size() == boundaries.size() + 1 && !boundaries.empty(), "PiecewiseConstantDecay",
          "expected one value more than boundaries, got ", values.size(), " and ", boundaries.size());
  auto made = std::make_shared<Piecewise>();
  made->boundaries = std::move(boundaries);
  made->values = std::move(values);
  return made;
}
Schedule PolynomialDecay(double initial, double steps, const PolynomialDecayOptions& o) {
  return with_options<Polynomial>(initial, steps, o);
}
Schedule CosineDecay(double initial, double steps, const CosineDecayOptions& o) {
  return with_options<Cosine>(initial, steps, o);
}
Schedule CosineDecayRestarts(double initial, double steps, const CosineDecayRestartsOptions& o) {
  return with_options<CosineRestarts>(initial, steps, o);
}

std::span<const ClassDef> classes_schedules() {
  static constexpr ClassDef rows[] = {
      {Family::schedule,
       "ExponentialDecay",
       "",
       make_default<Exponential>,
       {"initial_learning_rate", "decay_steps", "decay_rate"}},
      {Family::schedule,
       "InverseTimeDecay",
       "",
       make_default<InverseTime>,
       {"initial_learning_rate", "decay_steps", "decay_rate"}},
      {Family::schedule, "PiecewiseConstantDecay", "", make_default<Piecewise>, {"boundaries", "values"}},
      {Family::schedule,
       "PolynomialDecay",
       "",
       make_default<Polynomial>,
       {"initial_learning_rate", "decay_steps"}},
      {Family::schedule, "CosineDecay", "", make_default<Cosine>, {"initial_learning_rate", "decay_steps"}},
      {Family::schedule,
       "CosineDecayRestarts",
       "",
       make_default<CosineRestarts>,
       {"initial_learning_rate", "first_decay_steps"}},
  };
  return rows;
}

}  // namespace plimsoll
