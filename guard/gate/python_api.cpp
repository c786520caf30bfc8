#include "guard/gate/python_api.h"

#include <dlfcn.h>

namespace plimsoll::gate {

PythonApi g_python{};

namespace {

template <class Pointer>
bool find(Pointer& pointer, const char* name) {
  pointer = reinterpret_cast<Pointer>(::dlsym(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

}  // namespace

bool find_python() {
  PythonApi& p = g_python;
  find(p.stop_collector, "PyGC_Disable");
  find(p.start_collector, "PyGC_Enable");
  find(p.type_locals, "PyFrameLocalsProxy_Type");
  return find(p.add_pending_call, "Py_AddPendingCall") && find(p.import_module, "PyImport_ImportModule") &&
         find(p.call_method, "PyObject_CallMethod") && find(p.error_clear, "PyErr_Clear") &&
         find(p.version, "Py_GetVersion") && find(p.take_lock, "PyGILState_Ensure") &&
         find(p.release_lock, "PyGILState_Release") && find(p.this_thread, "PyThreadState_Get") &&
         find(p.frame_of, "PyThreadState_GetFrame") && find(p.caller_of, "PyFrame_GetBack") &&
         find(p.code_of, "PyFrame_GetCode") && find(p.line_of, "PyFrame_GetLineNumber") &&
         find(p.attribute, "PyObject_GetAttrString") && find(p.text_of, "PyUnicode_AsUTF8") &&
         find(p.bytes_of, "PyBytes_AsString") && find(p.type_type, "PyType_Type") &&
         find(p.values_of, "PyMapping_Values") && find(p.modules, "PyImport_GetModuleDict") &&
         find(p.dict_item, "PyDict_GetItemString") && find(p.list_of, "PySequence_List") &&
         find(p.call, "PyObject_CallNoArgs") && find(p.type_frame, "PyFrame_Type") &&
         find(p.type_function, "PyFunction_Type") && find(p.list_size, "PyList_Size") &&
         find(p.list_item, "PyList_GetItem") && find(p.size_of, "PyObject_Size") &&
         find(p.hash_of, "PyObject_Hash") && find(p.type_of, "PyObject_Type") &&
         find(p.release, "Py_DecRef") && find(p.type_int, "PyLong_Type") &&
         find(p.type_float, "PyFloat_Type") && find(p.type_str, "PyUnicode_Type") &&
         find(p.type_bytes, "PyBytes_Type") && find(p.type_list, "PyList_Type") &&
         find(p.type_dict, "PyDict_Type") && find(p.type_set, "PySet_Type") &&
         find(p.type_bytearray, "PyByteArray_Type");
}

}  // namespace plimsoll::gate
