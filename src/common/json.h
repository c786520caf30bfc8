// nlohmann's ordered_json, whose keys keep their order, with a destructor that asks for no memory. The
// library's own puts the children of a container into a vector first, so that trees of any depth can be freed
// without deep recursion: where memory has run out, that vector ends the process, for a destructor must not
// throw. Ours recurses. So whoever parses what others wrote bounds its depth (keras_io/json.h).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

namespace plimsoll::json_parts {

template <class T>
void end(T* part) noexcept {
  std::destroy_at(part);
  std::allocator<T>().deallocate(part, 1);
}

}  // namespace plimsoll::json_parts

// A specialisation must stand in the library's own namespace, and every file that uses the type must see it:
// tests/doors_test.py looks after that.
NLOHMANN_JSON_NAMESPACE_BEGIN
template <>
inline void ordered_json::json_value::destroy(value_t type) {
  if (type == value_t::object) plimsoll::json_parts::end(object);
  if (type == value_t::array) plimsoll::json_parts::end(array);
  if (type == value_t::string) plimsoll::json_parts::end(string);
  if (type == value_t::binary) plimsoll::json_parts::end(binary);
}
NLOHMANN_JSON_NAMESPACE_END
