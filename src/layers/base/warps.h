// What RandomPerspective and RandomElasticTransform do once all is drawn.
#pragma once

#include "layers/base/images.h"

namespace plimsoll {

// The corners (upper left, upper right, lower left, lower right) move by these shares, (batch, 4, 2), of
// their own (x, y).
Tensor perspective_images(const Tensor& x, const Tensor& shares, const Sampling& sampling,
                          std::string_view place);
// noise: (batch, rows, columns, 1), of a standard normal. strength: (1), at most `most`.
Tensor elastic_images(const Tensor& x, const Tensor& noise, const Tensor& strength, double most,
                      const Sampling& sampling, std::string_view place);

}  // namespace plimsoll
