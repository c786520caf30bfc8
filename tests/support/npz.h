// Reads the .npz files that NumPy writes: a zip of .npy arrays, stored or deflated. Enough for golden files
// and the demo's data; C order only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plimsoll::testing {

struct NpyArray {
  std::string type;  // NumPy's: "<f4", "|u1", "<i8"
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;

  int64_t elements() const;
  // Throws std::runtime_error if the item size is not T's.
  template <class T>
  const T* data() const {
    check_item_size(sizeof(T));
    return reinterpret_cast<const T*>(bytes.data());
  }

 private:
  void check_item_size(size_t bytes_per_item) const;
};

// The arrays by name, without ".npy". Throws std::runtime_error saying what is wrong with the file.
std::map<std::string, NpyArray> read_npz(const std::string& path);

}  // namespace plimsoll::testing
