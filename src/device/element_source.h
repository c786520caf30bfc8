// Programs of the tile engine as source, for devices that compile what they run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/cpu/tile.h"
#include "device/element_text.h"

namespace plimsoll {

// What a program does at one point of its space, as C. The device writes the loops around it, in whatever
// order, and the variables that the text uses:
//   arg0, arg1, ...  pointers to elements, as `arguments` says. An output may lie in the bytes of an input
//                    that has its shape: all reads of a point come before its writes;
//   i0, i1, ...      the indices of the point, and
//   at               its number in row-major order, of any integer type that holds the largest.
struct ElementSource {
  struct Argument {
    DType dtype = DType::f32;
    bool written = false;
    std::shared_ptr<const void> constant;  // its bytes, if it is one of the constants, which come last
    int64_t elements = 0;                  // of the constant
  };
  // Element sum(i * strides) of an output is `start`, combined with `value` of every point that leads there.
  // The CPU adds up floats in f64. Written by the device, with store_element().
  struct Fold {
    int argument;
    std::string value;         // a variable of the text
    DType dtype;               // of the output; values are of its computed_type()
    std::string start;         // a literal
    std::string_view combine;  // a is combined with b, in the same language
    TileStrides strides;
    int64_t elements;
  };

  std::vector<int64_t> sizes;  // of the space, as few axes as possible
  std::string text;
  bool indexed = false;  // the text uses i0, i1, ...: a device may leave them out
  std::vector<Argument> arguments;
  std::vector<Fold> folds;
};

// `arguments`: inputs and outputs of the program. Throws Error{unsupported} if an op does not say what it
// computes, or if a fold does not exist.
ElementSource element_source(const TileProgram& program, int arguments);

}  // namespace plimsoll
