// Names and modules that well-known projects have dropped, and the versions that still had them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::doctor {

struct RemovedName {
  std::string requirement;  // the versions that had it: "scipy<1.14"; empty if nothing is known of it
  bool installable = true;  // false: none of them was made for this Python
};
// `dotted`: "scipy.integrate.trapz", "sklearn.neighbors.base"; `minor`: of Python 3.
RemovedName removed_name(std::string_view dotted, uint64_t minor);

}  // namespace plimsoll::doctor
