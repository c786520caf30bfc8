// The kinds of sources, each in a file of its name.
#pragma once

#include <functional>
#include <memory>

#include "data/source.h"

namespace plimsoll::data {

using SourcePtr = std::shared_ptr<const Source>;

SourcePtr array_source(std::vector<Tensor> x, std::vector<Tensor> y, std::vector<Tensor> weights);
SourcePtr generator_source(std::function<Dataset::Generator(int64_t)> open, RecordTypes types);

}  // namespace plimsoll::data
