// Projects that are no longer made, and fail with today's frameworks in every version: to remove them is the
// only answer.
#pragma once

#include "doctor/python/distribution.h"

namespace plimsoll::doctor {

inline bool is_abandoned(const Distribution& d) {
  return d.normal == "tensorflow-addons" || d.normal == "neural-structured-learning";
}

}  // namespace plimsoll::doctor
