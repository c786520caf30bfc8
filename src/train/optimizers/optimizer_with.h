// OptimizerWith<Options>: an optimizer that keeps its arguments in the struct it was given them in.
#pragma once

#include <memory>

#include "plimsoll/optimizers.h"

namespace plimsoll {

template <class Options>
struct OptimizerWith : OptimizerBase {
  explicit OptimizerWith(std::string_view default_name, double default_rate = 0.001) {
    name = default_name;
    learning_rate = default_rate;
  }
  Options o;
};

// The arguments of Adam's relatives.
template <class Options>
void beta_fields(Fields& f, Options& o) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
}

// Throws Error{invalid_argument} naming the class unless the common arguments make sense together.
void check_optimizer(const OptimizerBase& optimizer);

template <class T, class Options>
Optimizer make_optimizer(LearningRate learning_rate, const Options& options) {
  auto made = std::make_shared<T>();
  made->learning_rate = std::move(learning_rate);
  made->o = options;
  made->weight_decay = options.weight_decay;
  made->clipnorm = options.clipnorm;
  made->clipvalue = options.clipvalue;
  made->global_clipnorm = options.global_clipnorm;
  made->use_ema = options.use_ema;
  made->ema_momentum = options.ema_momentum;
  made->ema_overwrite_frequency = options.ema_overwrite_frequency;
  made->loss_scale_factor = options.loss_scale_factor;
  made->gradient_accumulation_steps = options.gradient_accumulation_steps;
  if (!options.name.empty()) made->name = options.name;
  check_optimizer(*made);
  return made;
}

}  // namespace plimsoll
