// ModelBody: what the copies of a Model share.
#pragma once

#include "train/trainer.h"

namespace plimsoll {

struct ModelBody {
  explicit ModelBody(Layer network) : network(std::move(network)), trainer(this->network) {}
  Network& net() const { return static_cast<Network&>(*network); }

  Layer network;
  Trainer trainer;
  bool stop_training = false;
};

}  // namespace plimsoll
