#include "h5/program/types.h"

#include <bit>

#include "h5/program/refused.h"
#include "plimsoll/dtype.h"

namespace plimsoll::h5 {
namespace {

using wire::Kind;

MemoryType number(DType dtype, hid_t type) { return {Kind::number, static_cast<uint8_t>(dtype), type}; }

MemoryType integer(hid_t type) {
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (H5Tget_size(type)) {
    case 1: return is_signed ? number(DType::i8, H5T_NATIVE_INT8) : number(DType::u8, H5T_NATIVE_UINT8);
    case 2: return is_signed ? number(DType::i16, H5T_NATIVE_INT16) : number(DType::u16, H5T_NATIVE_UINT16);
    case 4: return is_signed ? number(DType::i32, H5T_NATIVE_INT32) : number(DType::u32, H5T_NATIVE_UINT32);
    case 8: return is_signed ? number(DType::i64, H5T_NATIVE_INT64) : number(DType::u64, H5T_NATIVE_UINT64);
    default: return {};
  }
}

// libhdf5 has no half types of its own: they are told by their fields and read as they are.
MemoryType half(hid_t type) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, fraction = 0, fraction_bits = 0;
  const H5T_order_t order = std::endian::native == std::endian::little ? H5T_ORDER_LE : H5T_ORDER_BE;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &fraction, &fraction_bits) < 0) return {};
  if (H5Tget_order(type) != order || sign != 15 || fraction != 0 || exponent != fraction_bits) return {};
  if (exponent_bits == 5 && fraction_bits == 10) return number(DType::f16, type);
  if (exponent_bits == 8 && fraction_bits == 7) return number(DType::bf16, type);
  return {};
}

MemoryType real(hid_t type) {
  switch (H5Tget_size(type)) {
    case 2: return half(type);
    case 4: return number(DType::f32, H5T_NATIVE_FLOAT);
    case 8: return number(DType::f64, H5T_NATIVE_DOUBLE);
    default: return {};
  }
}

}  // namespace

wire::Kind kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING: return Kind::text;
    case H5T_INTEGER:
    case H5T_FLOAT: return Kind::number;
    default: return Kind::other;
  }
}

MemoryType memory_type(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING: return {Kind::text, static_cast<uint8_t>(DType::u8), type};
    case H5T_INTEGER: return integer(type);
    case H5T_FLOAT: return real(type);
    // h5py's way to store bool, and (with an attribute saying so, by Keras) bfloat16.
    case H5T_ENUM: return H5Tget_size(type) == 1 ? number(DType::boolean, type) : MemoryType{};
    case H5T_OPAQUE: return H5Tget_size(type) == 2 ? number(DType::bf16, type) : MemoryType{};
    default: return {};
  }
}

std::string innermost_error() {
  std::string found;
  const auto take = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
    if (error->desc) *static_cast<std::string*>(into) = std::string(": ") + error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take, &found);
  return found;
}

bool is_elsewhere(hid_t plan) {
  return H5Pget_layout(plan) == H5D_VIRTUAL || H5Pget_external_count(plan) > 0;
}

}  // namespace plimsoll::h5
