// The argument that comes first in Keras's signature of a class. One without a default does; where all have
// one, a config lists them in the order of the signature (tests/python/layers/test_signatures.py).
#include "plimsoll/config.h"
#include "plimsoll/layer.h"

namespace plimsoll {
namespace {

struct FirstField final : Fields {
  std::string name;
  void note(std::string_view n) {
    if (name.empty()) name = n;
  }
  void operator()(std::string_view n, bool&) override { note(n); }
  void operator()(std::string_view n, int64_t&) override { note(n); }
  void operator()(std::string_view n, double&) override { note(n); }
  void operator()(std::string_view n, std::string&) override { note(n); }
  void operator()(std::string_view n, Ints&) override { note(n); }
  void operator()(std::string_view n, std::vector<double>&) override { note(n); }
  void operator()(std::string_view n, std::vector<Ints>&) override { note(n); }
  void operator()(std::string_view n, std::optional<bool>&) override { note(n); }
  void operator()(std::string_view n, std::optional<int64_t>&) override { note(n); }
  void operator()(std::string_view n, std::optional<double>&) override { note(n); }
  void operator()(std::string_view n, std::optional<std::string>&) override { note(n); }
  void refused(std::string_view) override {}
  bool reading() const override { return false; }

 protected:
  void object(std::string_view n, Family, std::shared_ptr<Configurable>&) override { note(n); }
};

}  // namespace

std::string first_argument(Family family, std::string_view name) {
  const std::vector<std::string> required = required_arguments(family, name);
  if (!required.empty()) return required[0];
  FirstField first;
  make_object(family, name)->fields(first);
  return first.name;
}

}  // namespace plimsoll
