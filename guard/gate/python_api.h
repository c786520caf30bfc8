// Functions of Python's C API that the gate calls. They are found at run time, for the gate is preloaded into
// any program, and are there from Python 3.9 on unless marked otherwise.
#pragma once

namespace plimsoll::gate {

using Object = void*;

struct PythonApi {
  int (*add_pending_call)(int (*)(void*), void*);
  Object (*import_module)(const char*);
  Object (*call_method)(Object, const char*, const char*, ...);
  void (*error_clear)();
  const char* (*version)();

  int (*take_lock)();
  void (*release_lock)(int);
  void* (*this_thread)();
  Object (*frame_of)(void* thread);
  Object (*caller_of)(Object frame);
  Object (*code_of)(Object frame);
  int (*line_of)(Object frame);
  Object (*attribute)(Object, const char*);
  const char* (*text_of)(Object);
  const char* (*bytes_of)(Object);
  Object (*values_of)(Object mapping);
  Object (*modules)();                                 // borrowed
  Object (*dict_item)(Object dict, const char* name);  // borrowed
  Object (*list_of)(Object iterable);
  Object (*call)(Object);
  long (*list_size)(Object);
  Object (*list_item)(Object, long);  // borrowed
  long (*size_of)(Object);
  long (*hash_of)(Object);
  Object (*type_of)(Object);
  void (*release)(Object);
  int (*stop_collector)();   // from 3.10 on, else null
  int (*start_collector)();  // from 3.10 on, else null

  Object type_int, type_float, type_str, type_bytes;
  Object type_list, type_dict, type_set, type_bytearray, type_frame, type_function, type_type;
  Object type_locals;  // from 3.13 on, else null
};

extern PythonApi g_python;

// Releases what it holds when it ends.
struct Held {
  Object object;
  explicit Held(Object o) : object(o) {}
  ~Held() {
    if (object) g_python.release(object);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  explicit operator bool() const { return object != nullptr; }
  Object take() {
    const Object o = object;
    object = nullptr;
    return o;
  }
};

// Fills g_python; false if this program is no Python, or one too old.
bool find_python();

}  // namespace plimsoll::gate
