// All ops a C++ program can call by name. Each takes concrete or symbolic tensors (tensor.h).
#pragma once

#include "plimsoll/ops/complex.h"
#include "plimsoll/ops/control.h"
#include "plimsoll/ops/fft.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/optimizer.h"
#include "plimsoll/ops/order.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
