// One pass over data without training: what evaluate() and predict() do, and the validation of fit().
#pragma once

#include <vector>

#include "plimsoll/model.h"

namespace plimsoll {

// Throws Error{invalid_argument} naming `place` if one is null.
void check_callbacks(std::string_view place, const std::vector<CallbackPtr>& callbacks);
bool want_batch_logs(const std::vector<CallbackPtr>& callbacks);

// The callbacks are attached.
struct TestPass {
  const Dataset& data;
  int64_t steps = 0;  // 0: to the end of the data
  int verbose = 0;
  const std::vector<CallbackPtr>& callbacks;
};
Logs run_test(ModelBody& body, const TestPass& pass);
std::vector<Tensor> run_predict(ModelBody& body, const TestPass& pass);

}  // namespace plimsoll
