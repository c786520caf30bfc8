#include "keras_io/h5_stream.h"

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

using wire::Kind;
using wire::Place;
using wire::Record;

class Parser {
 public:
  Parser(const ReadBytes& read, uint64_t file_size, const std::string& name)
      : read_(read), file_size_(file_size), name_(name) {}

  H5Group parse() {
    if (record() != Record::group) bad("no root");
    text(wire::kMostName);
    H5Group root = group(0);
    if (record() != Record::last) bad("more than one root");
    return root;
  }

 private:
  [[noreturn]] void bad(std::string_view what) const { fail(ErrorKind::bad_file, name_, "damaged: ", what); }

  template <class T>
  T number() {
    T value;
    read_(&value, sizeof value);
    return value;
  }

  Record record() {
    const Record r{number<uint8_t>()};
    if (r == Record::error) fail(ErrorKind::bad_file, name_, text(wire::kMostName));
    return r;
  }

  // A length that was made up costs no more memory than the bytes that really come.
  std::string text(uint64_t most) {
    const uint64_t length = number<uint32_t>();
    if (length > most) bad("a text that is too long");
    std::string value;
    while (value.size() < length) {
      const size_t have = value.size(), more = std::min<uint64_t>(length - have, 1u << 20);
      value.resize(have + more);
      read_(value.data() + have, more);
    }
    return value;
  }

  void count_node() {
    if (++nodes_ > wire::kMostNodes) bad("more groups, datasets and attributes than a model has");
  }

  std::vector<std::string> texts(uint64_t count) {
    if (count > wire::kMostTexts) bad("more texts than a model has");
    std::vector<std::string> all;
    uint64_t left = wire::kMostText;
    for (uint64_t i = 0; i < count; ++i) {
      all.push_back(text(left));
      left -= all.back().size();
    }
    return all;
  }

  void attribute(H5Attributes& into) {
    count_node();
    std::string name = text(wire::kMostName);
    H5Attribute a;
    a.kind = Kind{number<uint8_t>()};
    a.is_array = number<uint8_t>() != 0;
    const uint64_t count = number<uint64_t>();
    if (a.kind == Kind::text)
      a.texts = texts(count);
    else if (a.kind == Kind::number) {
      if (count > wire::kMostTexts) bad("more numbers than an attribute has");
      for (uint64_t i = 0; i < count; ++i) a.numbers.push_back(number<double>());
    } else if (a.kind != Kind::other || count != 0)
      bad("an attribute of no kind");
    into.insert_or_assign(std::move(name), std::move(a));
  }

  TensorType type() {
    const uint8_t dtype = number<uint8_t>(), rank = number<uint8_t>();
    if (dtype >= kDTypeCount || rank > Shape::kMaxRank) bad("a dataset of no known type");
    int64_t sizes[Shape::kMaxRank];
    for (int i = 0; i < rank; ++i) sizes[i] = number<int64_t>();
    try {
      TensorType t{DType{dtype}, Shape(std::span<const int64_t>(sizes, rank))};
      byte_size(t.dtype, t.shape);  // throws if it has no size
      return t;
    } catch (const Error&) {
      bad("a dataset of no possible size");
    }
  }

  void numbers_of(H5Dataset& d) {
    const uint64_t bytes = static_cast<uint64_t>(byte_size(d.type.dtype, d.type.shape));
    if (d.place == Place::file) {
      d.offset = number<uint64_t>();
      if (d.offset > file_size_ || bytes > file_size_ - d.offset)
        bad("a dataset beyond the end of the file: cut off?");
    } else if (d.place == Place::stream) {
      streamed_ += bytes;
      if (bytes / wire::kMostExpansion > std::max(file_size_, wire::kSmallFile) ||
          streamed_ / wire::kMostExpansion > std::max(file_size_, wire::kSmallFile)) {
        bad(concat("its datasets hold ", streamed_, " bytes, more than ", file_size_, " packed ones can"));
      }
      d.values = Tensor::empty(d.type.dtype, d.type.shape);
      read_(d.values.data(), bytes);
    } else
      bad("a dataset that lies nowhere");
  }

  H5Dataset dataset() {
    count_node();
    H5Dataset d;
    d.kind = Kind{number<uint8_t>()};
    d.type = type();
    d.place = Place{number<uint8_t>()};
    if (d.place == Place::none)
      d.why_not = text(wire::kMostName);
    else if (d.kind == Kind::number)
      numbers_of(d);
    else if (d.kind == Kind::text && d.place == Place::stream)
      d.texts = texts(static_cast<uint64_t>(d.type.shape.elements()));
    else
      bad("a dataset of no kind");
    for (;;) {
      const Record r = record();
      if (r == Record::end) return d;
      if (r != Record::attribute) bad("something in a dataset that does not belong there");
      attribute(d.attributes);
    }
  }

  H5Group group(int depth) {
    count_node();
    if (depth > wire::kMostDepth) bad("groups in groups, deeper than a model has");
    H5Group g;
    for (;;) {
      const Record r = record();
      if (r == Record::end) break;
      if (r == Record::attribute) {
        attribute(g.attributes);
        continue;
      }
      std::string name = text(wire::kMostName);
      if (r == Record::group)
        g.groups.push_back({std::move(name), group(depth + 1)});
      else if (r == Record::dataset)
        g.datasets.push_back({std::move(name), dataset()});
      else
        bad("a record of no kind");
    }
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::stable_sort(g.groups.begin(), g.groups.end(), by_name);
    std::stable_sort(g.datasets.begin(), g.datasets.end(), by_name);
    return g;
  }

  const ReadBytes& read_;
  uint64_t file_size_;
  const std::string& name_;
  uint64_t nodes_ = 0, streamed_ = 0;
};

}  // namespace

H5Group parse_h5_stream(const ReadBytes& read, uint64_t file_size, const std::string& name) {
  return Parser(read, file_size, name).parse();
}

}  // namespace plimsoll::keras_io
