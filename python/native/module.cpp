// The extension plimsoll._native.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstring>
#include <limits>

#include "crc32c.h"
#include "graph/op.h"
#include "memory/spill.h"
#include "ops.h"
#include "plimsoll/contents.h"
#include "plimsoll/devices.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/planning.h"
#include "plimsoll/watch.h"
#include "trace.h"
#include "watches.h"
#include "unlocked.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace plimsoll::python {
namespace {

DType dtype_named(const std::string& name) {
  const auto dtype = dtype_from_name(name);
  require(dtype.has_value(), "dtype", "expected the name of a dtype, got '", name, "'");
  return *dtype;
}

TensorType type_of(const std::string& dtype, const std::vector<int64_t>& shape) {
  return {dtype_named(dtype), Shape(shape)};
}

std::unique_ptr<PyTensor> from_buffer(const std::string& dtype, const std::vector<int64_t>& shape,
                                      nb::handle object) {
  const TensorType type = type_of(dtype, shape);
  const Bytes bytes(object, PyBUF_C_CONTIGUOUS);
  require(bytes.size() == byte_size(type.dtype, type.shape), "tensor", "expected ",
          byte_size(type.dtype, type.shape), " bytes for ", type, ", got ", bytes.size());
  return std::make_unique<PyTensor>(Tensor::from_bytes(type.dtype, type.shape, bytes.data()));
}

void copy_to(const PyTensor& tensor, nb::handle object) {
  const Tensor& t = tensor.concrete();
  const Bytes bytes(object, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  const int64_t size = byte_size(t.dtype(), t.shape());
  require(bytes.size() == size, "tensor", "expected room for ", size, " bytes, got ", bytes.size());
  if (size > 0) std::memcpy(bytes.data(), read_bytes(t), static_cast<size_t>(size));
}

nb::tuple shape_of(const PyTensor& t) {
  const Shape& shape = t.type().shape;
  nb::object sizes = nb::steal(PyTuple_New(shape.rank()));
  if (!sizes.is_valid()) throw nb::python_error();
  for (int i = 0; i < shape.rank(); ++i) PyTuple_SetItem(sizes.ptr(), i, nb::int_(shape[i]).release().ptr());
  return nb::borrow<nb::tuple>(sizes);
}

// Strings that are made once: Keras asks for dtypes all the time, to compare and to look them up.
nb::object dtype_text(const PyTensor& t) {
  static auto* const names = new std::array<nb::object, kDTypeCount>;
  nb::object& name = (*names)[static_cast<size_t>(t.type().dtype)];
  if (!name.is_valid()) name = nb::steal(PyUnicode_InternFromString(std::string(name_of(t.type().dtype)).c_str()));
  return name;
}

std::unique_ptr<PyTensor> full(const std::string& dtype, const std::vector<int64_t>& shape, double value) {
  const TensorType type = type_of(dtype, shape);
  return std::make_unique<PyTensor>(Tensor::full(type.dtype, type.shape, value));
}

// Whether all are tensors of one dtype that results have too: most calls need no rules of promotion.
bool alike(nb::tuple values) {
  std::optional<DType> dtype;
  for (const nb::handle value : values) {
    const PyTensor* t = nullptr;
    if (!nb::try_cast(value, t) || t == nullptr) return false;
    if (dtype && *dtype != t->type().dtype) return false;
    dtype = t->type().dtype;
  }
  return dtype && size_of(*dtype) <= 4;
}

nb::dict op_info(const std::string& name) {
  const OpDef& op = get_op(name);
  nb::list attrs;
  for (const AttrDef& a : op.attrs)
    attrs.append(nb::make_tuple(std::string(a.name), std::string(name_of(a.kind)), a.fallback.has_value()));
  nb::dict info;
  info["arity"] = nb::make_tuple(op.arity.least, op.arity.most);
  info["attrs"] = attrs;
  return info;
}

nb::list op_names() {
  nb::list names;
  for (const OpDef* op : all_ops()) names.append(std::string(op->name));
  return names;
}

// MemoryLineError is made in Python (plimsoll/errors.py) and given here.
nb::object& line_error() {
  static auto* const type = new nb::object;
  return *type;
}

// StallError, likewise.
nb::object& stall_error() {
  static auto* const type = new nb::object;
  return *type;
}

// With its numbers as attributes.
void raise_line_error(const MemoryLineError& e) {
  const MemoryLineError::Numbers& n = e.numbers();
  try {
    const nb::object error = line_error()(e.what());
    using Number = std::pair<const char*, int64_t>;
    for (const auto& [name, value] :
         {Number("line", n.line), Number("need", n.need), Number("least", n.least), Number("batch", n.batch),
          Number("largest_batch", n.largest_batch), Number("parts", n.parts)})
      nb::setattr(error, name, nb::int_(value));
    nb::setattr(error, "layers", nb::cast(n.layers));
    PyErr_SetObject(line_error().ptr(), error.ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const MemoryLineError& e) {
    if (line_error().is_valid()) return raise_line_error(e);
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const StallError& e) {
    PyErr_SetString(stall_error().is_valid() ? stall_error().ptr() : PyExc_TimeoutError, e.what());
  } catch (const Error& e) {
    PyObject* type = PyExc_RuntimeError;
    switch (e.kind()) {
      case ErrorKind::invalid_argument: type = PyExc_ValueError; break;
      case ErrorKind::not_found: type = PyExc_LookupError; break;
      case ErrorKind::unsupported: type = PyExc_NotImplementedError; break;
      case ErrorKind::io:
      case ErrorKind::bad_file: type = PyExc_OSError; break;
      case ErrorKind::out_of_memory:
        type = line_error().is_valid() ? line_error().ptr() : PyExc_MemoryError;
        break;
      default: break;
    }
    PyErr_SetString(type, e.what());
  }
}

nb::dict as_dict(const Trace::Forecast& f) {
  const MemoryReport& r = f.program;
  nb::dict d;
  d["arena"] = r.arena;
  d["unlimited"] = r.unlimited;
  d["variables"] = r.variables;
  d["constants"] = r.constants;
  d["program"] = r.program;
  d["parts"] = r.parts;
  d["spilled"] = f.spilled;
  d["window"] = f.window;
  d["layers"] = nb::cast(r.layers);
  return d;
}

// Whether a batch may be trained in parts under the line (docs/decisions/0050).
std::atomic<bool> parts_allowed{false};

CompileOptions options_of(int threads, const std::string& device) {
  CompileOptions options;
  options.threads = threads;
  if (!device.empty()) options.device = find_device(device);
  options.micro_batch = parts_allowed && memory_use().limit != INT64_MAX;
  return options;
}

}  // namespace
}  // namespace plimsoll::python

NB_MODULE(_native, m) {
  using namespace plimsoll;
  using namespace plimsoll::python;
  nb::set_leak_warnings(false);  // modules of users may hold tensors to the end of the process
  nb::register_exception_translator(translate);
  m.def("_hold_late_threads", &hold_late_threads);
  nb::module_::import_("atexit").attr("register")(m.attr("_hold_late_threads"));

  nb::class_<PyTensor>(m, "Tensor", nb::dynamic_attr(), nb::is_weak_referenceable())
      .def_prop_ro("shape", shape_of)
      .def_prop_ro("dtype", dtype_text)
      .def_prop_ro("ndim", [](const PyTensor& t) { return t.type().shape.rank(); })
      .def_prop_ro("size", [](const PyTensor& t) { return t.type().shape.elements(); })
      .def_prop_ro("is_symbolic", &PyTensor::is_symbolic)
      .def("_item", [](const PyTensor& t) { return t.concrete().item(); })
      .def("_copy_to", copy_to, "buffer"_a);
  m.attr("Tensor").attr("__module__") = "plimsoll";

  nb::class_<Storage>(m, "Storage")
      .def("value", &Storage::value)
      .def(
          "assign", [](Storage& s, const PyTensor& t) { s.assign(t.concrete()); }, "value"_a);
  m.def(
      "make_storage",
      [](const PyTensor& t, const std::string& spill) {
        return std::make_shared<Storage>(t.concrete(), spill);
      },
      "value"_a, "spill"_a = "");
  m.def("check_spill", spill::check, "folder"_a);
  m.def("spill", Storage::spill, "storages"_a, "folder"_a);

  m.def(
      "zero_storage",
      [](const std::string& dtype, const std::vector<int64_t>& shape) {
        return Storage::zeros(type_of(dtype, shape));
      },
      "dtype"_a, "shape"_a);
  m.def(
      "planned_storage",
      [](const std::string& dtype, const std::vector<int64_t>& shape, bool spilled) {
        return Storage::planned(type_of(dtype, shape), spilled);
      },
      "dtype"_a, "shape"_a, "spilled"_a = false);

  nb::class_<Workplace>(m, "Workplace")
      .def(nb::init<>())
      .def_prop_ro("arena_bytes", [](const Workplace& w) { return w.arena()->bytes(); })
      .def_prop_ro("spilled_bytes", &Workplace::spilled)
      .def(
          "hold_batch",
          [](const std::shared_ptr<Workplace>& w,
             const std::vector<std::pair<std::string, std::vector<int64_t>>>& types) {
            std::vector<TensorType> known;
            for (const auto& [dtype, shape] : types) known.push_back(type_of(dtype, shape));
            const Workplace::Turn turn(w);
            w->batch(known);
          },
          "types"_a);

  nb::class_<Rows>(m, "Rows").def(nb::init<const std::vector<nb::object>&>(), "arrays"_a);

  nb::class_<PyProgram>(m, "Program")
      .def("run", &PyProgram::run, "inputs"_a)
      .def(
          "run_rows",
          [](PyProgram& p, const Rows& rows, nb::object order, int64_t first, int64_t batches, double seconds,
             const std::vector<nb::object>& into, int64_t flag) {
            PyProgram::Round round = p.run_rows(rows, order, first, batches, seconds, into, flag);
            return nb::make_tuple(round.done, nb::cast(std::move(round.last)));
          },
          "rows"_a, "order"_a.none(), "first"_a, "batches"_a, "seconds"_a, "into"_a, "flag"_a = -1)
      .def("find_nonfinite", &PyProgram::find_nonfinite, "inputs"_a.none())
      .def_prop_ro("is_current", &PyProgram::is_current)
      .def_prop_ro("arena_bytes", [](const PyProgram& p) { return p.memory().arena; })
      .def_prop_ro("variable_bytes", [](const PyProgram& p) { return p.memory().variables; })
      .def("text", &PyProgram::text);

  nb::class_<Trace>(m, "Trace")
      .def(nb::init<bool>(), "eager"_a = false)
      .def("watched", &Trace::watched, "value"_a)
      .def("finish", &Trace::finish)
      .def(
          "input",
          [](Trace& t, const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape) {
            return t.input(name, type_of(dtype, shape));
          },
          "name"_a, "dtype"_a, "shape"_a)
      .def("variable", &Trace::variable, "name"_a, "storage"_a)
      .def("enter", &Trace::enter)
      .def("exit", &Trace::exit)
      .def("set_layer", &Trace::set_layer, "name"_a)
      .def("text", &Trace::text)
      .def(
          "compile",
          [](Trace& t, const Tensors& outputs, const Trace::Updates& updates,
             std::shared_ptr<Workplace> place, int threads, const std::string& device) {
            return t.compile(outputs, updates, place ? place : std::make_shared<Workplace>(),
                             options_of(threads, device));
          },
          "outputs"_a, "updates"_a, "place"_a.none() = nb::none(), "threads"_a = 0, "device"_a = "")
      .def(
          "forecast",
          [](Trace& t, const Tensors& outputs, const Trace::Updates& updates, bool least) {
            CompileOptions options = options_of(0, "");
            if (least) options.memory = 0;
            return as_dict(t.forecast(outputs, updates, options, least));
          },
          "outputs"_a, "updates"_a, "least"_a = false);

  m.def("apply", apply_op, "op"_a, "inputs"_a, "attrs"_a);
  m.def("call", call_op, "op"_a, "inputs"_a, "attrs"_a);
  m.def("quick_op", quick_op, "op"_a, "kinds"_a);
  m.def("gradients", gradients_of, "ys"_a, "xs"_a, "dys"_a);
  m.def("origin", origin_of, "tensor"_a);
  m.def("recorded", recorded, "tensor"_a);
  m.def("alike", alike, "values"_a);
  m.def(
      "is_recorded", [](const PyTensor& t) { return t.get().is_symbolic(); }, "tensor"_a);
  m.def(
      "is_made_before",
      [](const PyTensor& a, const PyTensor& b) {
        const Tensor &x = a.get(), &y = b.get();
        return x.is_symbolic() && y.is_symbolic() && &x.graph() == &y.graph() && x.id() < y.id();
      },
      "a"_a, "b"_a);
  m.def("cond", cond_op, "predicate"_a, "operands"_a, "if_true"_a, "if_false"_a);
  m.def("while_loop", while_op, "state"_a, "test"_a, "body"_a);
  m.def("scan", scan_op, "carry"_a, "xs"_a, "length"_a, "body"_a, "reverse"_a = false);
  m.def("custom_vjp", custom_vjp_op, "ys"_a, "xs"_a, "backward"_a);
  m.def("remat", remat_op, "operands"_a, "body"_a);
  m.def("is_tracing", [] { return current_tracing() != nullptr && !current_tracing()->eager; });

  m.def("from_buffer", from_buffer, "dtype"_a, "shape"_a, "buffer"_a);
  m.def("full", full, "dtype"_a, "shape"_a, "value"_a);
  m.def("op_names", op_names);
  m.def("op_info", op_info, "op"_a);

  m.def(
      "set_memory_limit",
      [](const std::optional<std::string>& text) {
        set_memory_limit(text ? parse_memory(*text) : std::numeric_limits<int64_t>::max());
      },
      "limit"_a.none());
  m.def("memory_use", [] {
    const MemoryUse use = memory_use();
    return nb::make_tuple(use.engine, use.engine_peak, use.resident, use.resident_peak, use.limit);
  });
  m.def("give_back_memory", give_back_memory);
  m.def("measure_memory", measure_memory);
  m.def(
      "allow_parts", [](bool allowed) { parts_allowed = allowed; }, "allowed"_a);
  m.def("parse_memory", parse_memory, "text"_a);
  m.def("memory_text", memory_text, "bytes"_a);
  m.def("line_text", line_text, "bytes"_a);
  add_watches(m);
  m.def(
      "crc32c",
      [](nb::handle object) {
        const Bytes bytes(object, PyBUF_C_CONTIGUOUS);
        return crc32c(bytes.data(), static_cast<size_t>(bytes.size()));
      },
      "bytes"_a);
  m.def("_set_line_error", [](nb::object type) { line_error() = std::move(type); });
  m.def("_set_stall_error", [](nb::object type) { stall_error() = std::move(type); });
}
