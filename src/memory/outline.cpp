#include "memory/planning.h"
#include "plimsoll/planning.h"

namespace plimsoll {
namespace {
thread_local int alive = 0;
}

struct Outline::Body {
  const account::Planning planning;
};

Outline::Outline() : body_(std::make_unique<Body>()) { ++alive; }
Outline::~Outline() { --alive; }
bool Outline::active() noexcept { return alive > 0; }

}  // namespace plimsoll
