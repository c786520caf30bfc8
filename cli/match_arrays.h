// Which arrays of a file go where in a model.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/model.h"
#include "plimsoll/npy.h"

namespace plimsoll::cli {

struct ArrayNames {
  std::vector<std::string> x, y, weights;
};

// What is named in `asked` stays. Inputs are found by their names, then by the usual ones (x, x_train,
// x_test, arr_0), then by shape where that leaves one choice; one array for one input needs neither. Targets
// are found by the outputs' names, the usual ones (y, y_train, y_test, arr_1), or as the one array that is
// left. Throws Error{not_found} that lists the arrays and what the model takes.
ArrayNames match_arrays(const NamedTypes& arrays, ArrayNames asked, const Model& model, bool with_targets,
                        const std::string& path);

}  // namespace plimsoll::cli
