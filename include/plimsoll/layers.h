// Keras's layers, with its names and defaults:  Conv2D(32, 3, {.activation = "relu"})
#pragma once

#include "plimsoll/layers/activation.h"
#include "plimsoll/layers/attention.h"
#include "plimsoll/layers/augmentation.h"
#include "plimsoll/layers/categories.h"
#include "plimsoll/layers/conv.h"
#include "plimsoll/layers/core.h"
#include "plimsoll/layers/merging.h"
#include "plimsoll/layers/normalization.h"
#include "plimsoll/layers/pooling.h"
#include "plimsoll/layers/preprocessing.h"
#include "plimsoll/layers/recurrent.h"
#include "plimsoll/layers/regularization.h"
#include "plimsoll/layers/reshaping.h"
#include "plimsoll/layers/spectrograms.h"
#include "plimsoll/layers/symbol_ops.h"
