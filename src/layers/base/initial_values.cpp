#include "layers/base/initial_values.h"

namespace plimsoll {
namespace {
thread_local int alive = 0;
}

WithoutInitialValues::WithoutInitialValues() { ++alive; }
WithoutInitialValues::~WithoutInitialValues() { --alive; }
bool WithoutInitialValues::active() { return alive > 0; }

}  // namespace plimsoll
