// The order of a stream: take, skip, repeat and windowed shuffle over raw records.
#pragma once

#include <memory>
#include <vector>

#include "data/order.h"
#include "data/source.h"

namespace plimsoll::data {

// The records of `source` after `steps`, for one epoch. Throws Error{invalid_argument} where a step would
// shuffle the whole stream.
std::unique_ptr<RawStream> open_ordered(std::shared_ptr<const Source> source,
                                        const std::vector<OrderStep>& steps, int64_t epoch);

}  // namespace plimsoll::data
