// The text attributes of an HDF5 file's root group, read without libhdf5: Keras writes there which
// version saved a model. Reads superblocks 0 to 3, object headers 1 and 2, fixed and variable text.
#pragma once

#include <map>
#include <string>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

struct Hdf5Root {
  std::map<std::string, std::string> text;  // attributes that hold one string
  std::size_t others = 0;                   // attributes of other kinds
};

bool looks_like_hdf5(Bytes file);
// Whether its writer has not closed it, which newer files tell (superblock 3): libhdf5 refuses to read it.
bool is_open_for_writing(Bytes file);
// Throws Error{bad_file} if the file is cut off, garbled or no HDF5 file.
Hdf5Root read_hdf5_root(Bytes file);

// Throws Error{bad_file} if a file of `whole_size` bytes that begins with `head` is shorter than its header
// promises.
void check_hdf5_end(Bytes head, uint64_t whole_size);

}  // namespace plimsoll::doctor
