// Windows for spectra, with the names and values of scipy.signal.get_window.
#pragma once

#include <vector>

#include "plimsoll/layers/spectrograms.h"

namespace plimsoll {

// `length` values in double. periodic: the last value of one more, which would be the first again, is left
// out. Throws Error{invalid_argument} naming `place`, with the names there are; or if it has values of
// another length. Of no window: empty.
std::vector<double> window_values(const Window& window, int64_t length, bool periodic,
                                  std::string_view place);

// A config's name, list or null.
void window_field(Fields& f, Window& window);

}  // namespace plimsoll
