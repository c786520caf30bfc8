// What a pickle asks Python for, read from its opcodes; nothing of it is run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

struct PickleContents {
  // Classes and functions in the order in which they are asked for, each once: {"numpy", "dtype"}.
  std::vector<std::pair<std::string, std::string>> names;
  bool is_object = false;    // of a class, not a list or dict of things
  bool on_gpu = false;       // PyTorch's tensors in it lay on a CUDA device
  std::string scikit_learn;  // the version that wrote an estimator in it; empty: none, or it does not say
  size_t read = 0;           // bytes up to the end of the pickle, or to where it was given up
};

// Gives up, without an error, at what is no opcode: joblib puts arrays between them, and files are cut off.
// Throws nothing.
PickleContents read_pickle(Bytes file);

// The same for all pickles that follow each other in a file, as PyTorch wrote them before version 1.6.
PickleContents read_pickles(Bytes file);

}  // namespace plimsoll::doctor
