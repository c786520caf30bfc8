// Writes the stream of keras_io/h5_wire.h, for seeds.
#pragma once

#include <string>
#include <vector>

#include "h5/wire.h"
#include "plimsoll/dtype.h"

namespace plimsoll::fuzz {

namespace wire = h5::wire;

template <class T>
std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
inline std::string text(const std::string& t) { return number(static_cast<uint32_t>(t.size())) + t; }

// Of float32; `contents` are its place in the file, or its bytes.
inline std::string dataset(const std::string& name, const std::vector<uint64_t>& shape, wire::Place place,
                           const std::string& contents) {
  std::string dims = number(static_cast<uint8_t>(shape.size()));
  for (const uint64_t n : shape) dims += number(n);
  return number(wire::Record::dataset) + text(name) + number(wire::Kind::number) + number(DType::f32) + dims +
         number(place) + contents + number(wire::Record::end);
}

inline std::string group(const std::string& name, const std::string& inside) {
  return number(wire::Record::group) + text(name) + inside + number(wire::Record::end);
}

// An attribute that is a list of texts.
inline std::string texts(const std::string& name, const std::vector<std::string>& list) {
  std::string all = number(wire::Record::attribute) + text(name) + number(wire::Kind::text) +
                    number(uint8_t{1}) + number(static_cast<uint64_t>(list.size()));
  for (const std::string& t : list) all += text(t);
  return all;
}

}  // namespace plimsoll::fuzz
