// What Keras calls an object with a config: a layer, an initializer, a loss, an optimizer. It names its
// fields once; the readers and writers of configs, the command line and the docs walk over that list.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/attrs.h"

#pragma GCC visibility push(default)
namespace plimsoll {

enum class Family : uint8_t {
  layer,
  initializer,
  regularizer,
  constraint,
  loss,
  metric,
  optimizer,
  schedule,
  callback  // has no configs: only for refusal()
};
std::string_view name_of(Family family);

class Fields;
class Layer;

class Configurable {
 public:
  virtual ~Configurable() = default;
  virtual std::string_view class_name() const = 0;  // Keras's: "Dense"
  // Names every argument once, in Keras's spelling: f("units", units). Called to write a config, and to read
  // one into an object that has its defaults.
  virtual void fields(Fields&) {}
};

// A size per axis, or one for all: 3 or {3, 5}. Empty: none was given.
struct Dims : Ints {
  Dims() = default;
  Dims(int64_t all) : Ints{all} {}
  Dims(int all) : Ints{all} {}
  Dims(std::initializer_list<int64_t> sizes) : Ints(sizes) {}
  Dims(Ints sizes) : Ints(std::move(sizes)) {}
  // One size per axis; throws Error{invalid_argument} naming `place` unless there are 1 or `rank` sizes.
  Ints of_rank(int rank, std::string_view place) const;
};

// An object of a family by Keras's name or alias ("GlorotUniform", "glorot_uniform"), with its defaults.
// Throws Error{not_found} that lists the names there are, the nearest first; {unsupported} with the reason
// for a name of Keras's that is refused.
std::shared_ptr<Configurable> make_object(Family family, std::string_view name);
std::vector<std::string> object_names(Family family);
// Why there is no such class here though Keras has one; empty: that is not so.
std::string_view refusal(Family family, std::string_view name);

// What Ref says where there is no object. Throws Error{invalid_argument}.
[[noreturn]] void no_object(Family family);
// The arguments of a class that have no default, in Keras's order; none for a class that is not known.
std::vector<std::string> required_arguments(Family family, std::string_view name);
// The argument that Keras's class takes first: the 10 of Dense(10). Empty: it takes none.
std::string first_argument(Family family, std::string_view name);

// A shared handle to an object, or none. Where Keras takes a string or an object, so does this.
template <class Base>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(const char* name) : Ref(std::string_view(name)) {}
  Ref(const std::string& name) : Ref(std::string_view(name)) {}
  Ref(std::string_view name) : object_(std::static_pointer_cast<Base>(make_object(Base::kFamily, name))) {}
  template <class T>
  requires std::derived_from<T, Base> Ref(std::shared_ptr<T> object) : object_(std::move(object)) {}

  Base* get() const { return object_.get(); }  // nullptr: none
  // Throw Error{invalid_argument} where there is none.
  Base* operator->() const { return &**this; }
  Base& operator*() const {
    if (object_ == nullptr) no_object(Base::kFamily);
    return *object_;
  }
  explicit operator bool() const { return object_ != nullptr; }
  const std::shared_ptr<Base>& pointer() const { return object_; }

 private:
  std::shared_ptr<Base> object_;
};

// A walk over fields. A reader replaces the values that its config has and leaves the rest; a writer records
// them.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void operator()(std::string_view name, bool& value) = 0;
  virtual void operator()(std::string_view name, int64_t& value) = 0;
  virtual void operator()(std::string_view name, double& value) = 0;
  virtual void operator()(std::string_view name, std::string& value) = 0;
  virtual void operator()(std::string_view name, Ints& value) = 0;  // a lone number is read as a list of one
  virtual void operator()(std::string_view name, std::vector<double>& value) = 0;
  // [[1, 1], [2, 2]]; a number is read as [[n]] and a list of numbers as one list of one per number.
  virtual void operator()(std::string_view name, std::vector<Ints>& value) = 0;
  virtual void operator()(std::string_view name, std::optional<bool>& value) = 0;  // empty: null
  virtual void operator()(std::string_view name, std::optional<int64_t>& value) = 0;
  virtual void operator()(std::string_view name, std::optional<double>& value) = 0;
  virtual void operator()(std::string_view name, std::optional<std::string>& value) = 0;
  void operator()(std::string_view name, Dims& value) { (*this)(name, static_cast<Ints&>(value)); }
  template <class Base>
  void operator()(std::string_view name, Ref<Base>& value) {
    std::shared_ptr<Configurable> object = value.pointer();
    this->object(name, Base::kFamily, object);
    if (object != value.pointer()) value = Ref<Base>(std::static_pointer_cast<Base>(object));
  }
  void operator()(std::string_view name, Layer& value);  // a layer inside a layer
  // Lists; passed over by walks that do not say otherwise.
  virtual void operator()(std::string_view /*name*/, std::vector<Layer>& /*value*/) {}
  virtual void operator()(std::string_view /*name*/, std::vector<std::string>& /*value*/) {}
  // An argument that Keras has and we have not: written as null, and refused by name when a config sets it.
  virtual void refused(std::string_view name) = 0;
  virtual bool reading() const = 0;
  // Reading: whether the config has an object under this name, where it could have a number (learning_rate).
  virtual bool has_object(std::string_view /*name*/) const { return false; }
  // Reading: whether it has a list there, where it could have a name (window).
  virtual bool has_list(std::string_view /*name*/) const { return false; }

 protected:
  virtual void object(std::string_view name, Family family, std::shared_ptr<Configurable>& value) = 0;
};

// The row with which a file of src/layers/ or src/train/ makes a class known.
struct ClassDef {
  Family family;
  std::string_view name;   // "GlorotUniform"
  std::string_view alias;  // "glorot_uniform"; empty: none
  std::shared_ptr<Configurable> (*make)();
  // Arguments that Keras gives no default, in its order; a config must have them. Empty names: none.
  std::array<std::string_view, 3> required = {};
};
template <class T>
std::shared_ptr<Configurable> make_default() {
  return std::make_shared<T>();
}
// Whether the class is one of Keras's, and none of the program's own.
bool is_builtin(Family family, std::string_view name);
// For a program's own classes: files that name them can be loaded from now on. Throws if the name is taken.
void register_class(const ClassDef& row);

// Keras's utils.set_random_seed: everything drawn without a seed of its own follows from this one.
void set_random_seed(uint64_t seed);
// The next seed for what was given none; below 2^31, as Keras's are.
int64_t next_seed();

}  // namespace plimsoll
#pragma GCC visibility pop
