#include "device/element_source.h"

#include <limits>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// How a fold begins and goes on.
struct FoldText {
  std::string start;
  std::string_view combine;
};

template <class T>
std::string extremum(DType t, bool lowest) {
  const T value = lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  return element_literal(&value, t);
}

std::string extremum(DType t, bool lowest) {
  switch (t) {
    case DType::u8: return extremum<uint8_t>(t, lowest);
    case DType::u16: return extremum<uint16_t>(t, lowest);
    case DType::u32: return extremum<uint32_t>(t, lowest);
    case DType::u64: return extremum<uint64_t>(t, lowest);
    case DType::i8: return extremum<int8_t>(t, lowest);
    case DType::i16: return extremum<int16_t>(t, lowest);
    case DType::i32: return extremum<int32_t>(t, lowest);
    case DType::i64: return extremum<int64_t>(t, lowest);
    default: return lowest ? "(-INFINITY)" : "INFINITY";
  }
}

FoldText fold_text(Fold kind, DType t) {
  const bool real = is_float(t);
  if (t == DType::boolean) {
    if (kind == Fold::logical_and || kind == Fold::min) return {"1", "a & b"};
    if (kind == Fold::logical_or || kind == Fold::max) return {"0", "a | b"};
  } else {
    switch (kind) {
      case Fold::sum: return {real ? "0.0f" : "0", real ? "a + b" : "add(a, b)"};
      case Fold::prod: return {real ? "1.0f" : "1", real ? "a * b" : "mul(a, b)"};
      case Fold::max: return {extremum(t, true), real ? "isnan(b) || b > a ? b : a" : "b > a ? b : a"};
      case Fold::min: return {extremum(t, false), real ? "isnan(b) || b < a ? b : a" : "b < a ? b : a"};
      default: break;
    }
  }
  fail(ErrorKind::unsupported, "source", "no such fold of ", t);
}

class Printer {
 public:
  Printer(const TileProgram& program, int arguments) : program_(program), space_(program) {
    out_.arguments.resize(static_cast<size_t>(arguments));
    out_.sizes.assign(space_.sizes.begin(), space_.sizes.begin() + space_.rank);
  }

  ElementSource print() {
    for (size_t v = 0; v < program_.values().size(); ++v) value(static_cast<int>(v));
    for (const TileProgram::Write& w : program_.writes()) {
      const DType t = written(w.argument, w.value);
      out_.text += concat("arg", w.argument, "[at] = ", store_element(variable(w.value), t), ";\n");
    }
    for (size_t f = 0; f < program_.folds().size(); ++f) {
      const TileProgram::FoldTo& fold = program_.folds()[f];
      const DType t = written(fold.argument, fold.value);
      FoldText text = fold_text(fold.kind, t);
      out_.folds.push_back({fold.argument, variable(fold.value), t, std::move(text.start), text.combine,
                            space_.folds[f], fold.elements});
    }
    return std::move(out_);
  }

 private:
  static std::string variable(int value) { return concat("v", value); }

  DType written(int argument, int value) {
    const DType t = program_.dtype_of(value);
    out_.arguments[static_cast<size_t>(argument)] = {t, true, nullptr, 0};
    return t;
  }

  void value(int v) {
    const TileProgram::Value& made = program_.values()[static_cast<size_t>(v)];
    if (made.read >= 0) {
      out_.text += concat("const ", source_type(computed_type(made.dtype)).name, " ", variable(v), " = ",
                          read(static_cast<size_t>(made.read)), ";\n");
      return;
    }
    const TileProgram::Call& call = program_.calls()[static_cast<size_t>(made.call)];
    std::vector<std::string> operands;
    std::vector<DType> types;
    for (const int operand : call.operands) {
      operands.push_back(variable(operand));
      types.push_back(program_.dtype_of(operand));
    }
    out_.text += element_statements(call.tile, operands, types, variable(v), made.dtype);
  }

  std::string read(size_t index) {
    const TileProgram::Read& read = program_.reads()[index];
    const TileStrides& strides = space_.reads[index];
    int argument = read.argument;
    if (read.constant) {
      const int64_t elements = elements_of(strides);
      if (elements == 1) return element_literal(read.constant.get(), read.dtype);
      argument = static_cast<int>(out_.arguments.size());
      out_.arguments.push_back({read.dtype, false, read.constant, elements});
    } else {
      out_.arguments[static_cast<size_t>(argument)].dtype = read.dtype;
    }
    return load_element(concat("arg", argument, "[", position(strides), "]"), read.dtype);
  }

  int64_t elements_of(const TileStrides& strides) const {
    int64_t last = 0;
    for (size_t d = 0; d < out_.sizes.size(); ++d) {
      if (out_.sizes[d] == 0) return 0;
      last += (out_.sizes[d] - 1) * strides[d];
    }
    return last + 1;
  }

  std::string position(const TileStrides& strides) {
    if (space_.is_dense(strides)) return "at";
    std::string text;
    for (size_t d = 0; d < out_.sizes.size(); ++d) {
      if (strides[d] == 0) continue;
      text += concat(text.empty() ? "" : " + ", "i", d);
      if (strides[d] != 1) text += concat(" * ", strides[d]);
    }
    out_.indexed = out_.indexed || !text.empty();
    return text.empty() ? "0" : text;
  }

  const TileProgram& program_;
  TileSpace space_;
  ElementSource out_;
};

}  // namespace

ElementSource element_source(const TileProgram& program, int arguments) {
  return Printer(program, arguments).print();
}

}  // namespace plimsoll
