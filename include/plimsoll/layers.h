// Keras's layers, with its names and defaults:  Conv2D(32, 3, {.activation = "relu"})
#pragma once

#include "plimsoll/layers/conv.h"
#include "plimsoll/layers/core.h"
#include "plimsoll/layers/pooling.h"
#include "plimsoll/layers/regularization.h"
