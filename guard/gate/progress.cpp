#include "guard/gate/progress.h"

#include <string.h>

namespace plimsoll::gate {

namespace {

constexpr long kHeapType = 1L << 9;
constexpr long kLargestPlain = 64;  // bytes of an object that holds no more than its attributes

// Small whole numbers are their own hash.
long number_of(Object of, const char* name) {
  const Held number(g_python.attribute(of, name));
  return number ? g_python.hash_of(number.object) : -1;
}

// The opcode of a name, -1 if this Python has none. The module is there if anybody imported `inspect`.
int opcode_of(const char* name) {
  const Object module = g_python.dict_item(g_python.modules(), "opcode");
  const Held map(module ? g_python.attribute(module, "opmap") : nullptr);
  const Object code = map ? g_python.dict_item(map.object, name) : nullptr;
  return code ? static_cast<int>(g_python.hash_of(code)) : -1;
}

struct Opcodes {
  int for_iter = opcode_of("FOR_ITER"), extended = opcode_of("EXTENDED_ARG");
  int back = opcode_of("JUMP_BACKWARD"), absolute = opcode_of("JUMP_ABSOLUTE");
  int back_if_true = opcode_of("POP_JUMP_BACKWARD_IF_TRUE"),
      back_if_false = opcode_of("POP_JUMP_BACKWARD_IF_FALSE");
  int if_true = absolute >= 0 ? opcode_of("POP_JUMP_IF_TRUE") : -1;  // absolute too, before 3.11
  int if_false = absolute >= 0 ? opcode_of("POP_JUMP_IF_FALSE") : -1;
};

// Calls f(offset, opcode, argument) for each instruction.
template <class F>
void for_each_instruction(const unsigned char* code, long size, const Opcodes& op, const F& f) {
  long argument = 0;
  for (long at = 0; at + 1 < size; at += 2) {
    argument = (argument << 8 | code[at + 1]) & 0xffffff;
    if (code[at] == op.extended) continue;
    f(at, static_cast<int>(code[at]), argument);
    argument = 0;
  }
}

// Where a jump leads back to, within an instruction or two; -1 if it leads forward.
long back_to(const Opcodes& op, long at, int code, long argument) {
  if (code == op.back || code == op.back_if_true || code == op.back_if_false) return at + 2 - 2 * argument;
  const bool absolute = code == op.absolute || code == op.if_true || code == op.if_false;
  return op.absolute >= 0 && absolute && 2 * argument < at ? 2 * argument : -1;
}

// The innermost loop around what runs is one over an iterator.
bool in_for_loop(Object frame, Object code_object) {
  const Held bytes(g_python.attribute(code_object, "co_code"));
  const long now = number_of(frame, "f_lasti");
  if (!bytes || now < 0) return false;
  const auto* code = reinterpret_cast<const unsigned char*>(g_python.bytes_of(bytes.object));
  const long size = g_python.size_of(bytes.object);
  const Opcodes op;
  if (!code || op.for_iter < 0) return false;
  constexpr long kNear = 6;  // caches behind an instruction
  long begin = -1;
  for_each_instruction(code, size, op, [&](long at, int o, long argument) {
    if (o == op.for_iter && at <= now && now <= at + 2 + kNear + 2 * argument) begin = at;
  });
  if (begin < 0) return false;
  bool nested = false;  // a `while` within it
  for_each_instruction(code, size, op, [&](long at, int o, long argument) {
    const long target = back_to(op, at, o, argument);
    nested |= at >= now && target > begin + kNear && target <= now;
  });
  return !nested;
}

bool is_named(Object type, const char* const* names) {
  const Held name(g_python.attribute(type, "__name__"));
  const char* text = name ? g_python.text_of(name.object) : nullptr;
  for (; text && *names; ++names) {
    if (::strcmp(text, *names) == 0) return true;
  }
  return false;
}

// Whether all that an object is can be seen: plain values, functions, modules, and instances of classes
// written in Python.
bool is_plain_value(Object value) {
  static const char* const kPlain[] = {"int",       "float",    "str",     "bytes",
                                       "bool",      "NoneType", "complex", "tuple",
                                       "list",      "dict",     "set",     "frozenset",
                                       "bytearray", "range",    "module",  "function",
                                       "type",      "lock",     "RLock",   "builtin_function_or_method",
                                       "method",    "ABCMeta",  nullptr};
  const Held type(g_python.type_of(value));
  const Held metaclass(g_python.type_of(type.object));
  if (metaclass.object != g_python.type_type) return false;  // its attributes might be code of the program's
  if (is_named(type.object, kPlain)) return true;
  return (number_of(type.object, "__flags__") & kHeapType) != 0 &&
         number_of(type.object, "__basicsize__") <= kLargestPlain &&
         number_of(type.object, "__itemsize__") == 0;
}

bool all_plain(Object names, Object variables) {
  const Held list(names ? g_python.list_of(names) : nullptr);
  const long count = list ? g_python.list_size(list.object) : 0;
  for (long i = 0; i < count; ++i) {
    const char* name = g_python.text_of(g_python.list_item(list.object, i));
    const Object value = name ? g_python.dict_item(variables, name) : nullptr;
    if (value && !is_plain_value(value)) return false;
  }
  return true;
}

// Those that its code names, of the module; of a function also all that are its own.
bool uses_plain_values(Object frame, Object code) {
  const Held globals(g_python.attribute(frame, "f_globals")), locals(g_python.attribute(frame, "f_locals"));
  const Held names(g_python.attribute(code, "co_names"));
  if (globals && !all_plain(names.object, globals.object)) return false;
  if (!locals || locals.object == globals.object) return true;
  const Held type(g_python.type_of(locals.object));
  if (type.object != g_python.type_dict && type.object != g_python.type_locals) return false;
  const Held values(g_python.values_of(locals.object));
  const long count = values ? g_python.list_size(values.object) : 0;
  for (long i = 0; i < count; ++i) {
    if (!is_plain_value(g_python.list_item(values.object, i))) return false;
  }
  return true;
}

}  // namespace

bool may_progress_unseen(Object frame) {
  const Held code(g_python.code_of(frame));
  const bool unseen = in_for_loop(frame, code.object) || !uses_plain_values(frame, code.object);
  g_python.error_clear();
  return unseen;
}

}  // namespace plimsoll::gate
