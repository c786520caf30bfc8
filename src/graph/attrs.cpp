#include "plimsoll/attrs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <functional>

#include "plimsoll/error.h"
#include "plimsoll/graph.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 8> kKindNames = {"bool", "integer", "real",   "string",
                                                        "ints", "dtype",   "tensor", "graph"};

auto position(auto& list, std::string_view name) {
  return std::lower_bound(list.begin(), list.end(), name,
                          [](const auto& entry, std::string_view n) { return entry.first < n; });
}

template <class T>
const T& get(const Attrs& attrs, std::string_view name) {
  const Attr* attr = attrs.find(name);
  if (!attr) fail(ErrorKind::internal, "attrs", "expected an attribute '", name, "', got none");
  const T* value = std::get_if<T>(attr);
  if (!value) {
    fail(ErrorKind::internal, "attrs", "attribute '", name, "' is of kind ", name_of(kind_of(*attr)));
  }
  return *value;
}

std::string real_text(double value) {
  std::array<char, 40> out;
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value).ptr;
  std::string s(out.data(), end);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";  // so that it reads back as a real
  return s;
}

std::string quoted(std::string_view value) {
  std::string s = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') s += '\\';
    if (c == '\n')
      s += "\\n";
    else
      s += c;
  }
  return s + '"';
}

struct ToText {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return real_text(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const Ints& v) const {
    std::string s = "[";
    for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + std::to_string(v[i]);
    return s + "]";
  }
  std::string operator()(DType v) const { return std::string(name_of(v)); }
  std::string operator()(const Tensor& v) const { return "tensor<" + v.type().str() + ">"; }
  std::string operator()(const std::shared_ptr<const Graph>& v) const {
    return concat("graph<", v ? v->nodes().size() : 0, " nodes>");
  }
};

struct Same {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  bool operator()(double a, double b) const {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }
  bool operator()(const Tensor& a, const Tensor& b) const {
    return a.buffer() == b.buffer() && a.type() == b.type();
  }
  template <class T, class U>
  bool operator()(const T&, const U&) const {
    return false;
  }
};

struct Hash {
  size_t operator()(double v) const { return std::hash<uint64_t>()(std::bit_cast<uint64_t>(v)); }
  size_t operator()(const Ints& v) const {
    size_t h = v.size();
    for (const int64_t x : v) h = h * 1000003 + static_cast<size_t>(x);
    return h;
  }
  size_t operator()(const Tensor& v) const { return std::hash<const void*>()(v.buffer().get()); }
  template <class T>
  size_t operator()(const T& v) const {
    return std::hash<T>()(v);
  }
};

}  // namespace

std::string_view name_of(AttrKind kind) { return kKindNames[static_cast<size_t>(kind)]; }
std::string to_text(const Attr& attr) { return std::visit(ToText(), attr); }

Attrs::Attrs(std::initializer_list<std::pair<std::string_view, Attr>> list) {
  list_.reserve(list.size());
  for (const auto& [name, value] : list) set(name, value);
}

void Attrs::set(std::string_view name, Attr value) {
  const auto it = position(list_, name);
  if (it != list_.end() && it->first == name)
    it->second = std::move(value);
  else
    list_.emplace(it, std::string(name), std::move(value));
}

const Attr* Attrs::find(std::string_view name) const {
  const auto it = position(list_, name);
  return it != list_.end() && it->first == name ? &it->second : nullptr;
}

bool Attrs::flag(std::string_view name) const { return get<bool>(*this, name); }
int64_t Attrs::integer(std::string_view name) const { return get<int64_t>(*this, name); }
double Attrs::real(std::string_view name) const { return get<double>(*this, name); }
const std::string& Attrs::string(std::string_view name) const { return get<std::string>(*this, name); }
const Ints& Attrs::ints(std::string_view name) const { return get<Ints>(*this, name); }
DType Attrs::dtype(std::string_view name) const { return get<DType>(*this, name); }
const Tensor& Attrs::tensor(std::string_view name) const { return get<Tensor>(*this, name); }
const std::shared_ptr<const Graph>& Attrs::graph(std::string_view name) const {
  return get<std::shared_ptr<const Graph>>(*this, name);
}

bool Attrs::operator==(const Attrs& other) const {
  return std::equal(list_.begin(), list_.end(), other.list_.begin(), other.list_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && std::visit(Same(), a.second, b.second);
                    });
}

size_t Attrs::hash() const {
  size_t h = list_.size();
  for (const auto& [name, value] : list_) {
    h = h * 1000003 + std::hash<std::string>()(name);
    h = h * 1000003 + std::visit(Hash(), value);
  }
  return h;
}

}  // namespace plimsoll
