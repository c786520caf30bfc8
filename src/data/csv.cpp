#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "data/csv_rows.h"
#include "data/sources.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

// What pandas takes for a missing value.
constexpr std::array<std::string_view, 19> kMissing = {
    "",     "#N/A", "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A",  "NA",       "NULL", "NaN",     "None",     "n/a",  "nan",  "null"};

bool is_missing(std::string_view text) {
  return text.size() <= 8 && std::find(kMissing.begin(), kMissing.end(), text) != kMissing.end();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool parse_number(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return false;
  // Too large or too small for a double: infinity or zero, as everybody else reads it.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  return error == std::errc() || error == std::errc::result_out_of_range;
}

bool parse_truth(std::string_view text, double& value) {
  for (const std::string_view word : {"True", "TRUE", "true"}) {
    if (text == word) return value = 1, true;
  }
  for (const std::string_view word : {"False", "FALSE", "false"}) {
    if (text == word) return value = 0, true;
  }
  return false;
}

bool can_hold(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i32 || dtype == DType::i64 ||
         dtype == DType::u8;
}

template <class T>
bool store_whole(double value, char* to) {
  // The limits of T as doubles: the upper one is exclusive, as that of int64 rounds up.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(value >= low && value < high) || value != std::floor(value)) return false;
  const T whole = static_cast<T>(value);
  std::memcpy(to, &whole, sizeof whole);
  return true;
}

// False if the type cannot hold the value.
bool store(DType dtype, double value, std::string_view text, char* to) {
  switch (dtype) {
    case DType::f64: std::memcpy(to, &value, sizeof value); return true;
    case DType::i32: return store_whole<int32_t>(value, to);
    case DType::u8: return store_whole<uint8_t>(value, to);
    case DType::i64: {
      int64_t whole = 0;  // exactly, where the text is a whole number
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
      if (error != std::errc() || end != text.data() + text.size()) return store_whole<int64_t>(value, to);
      std::memcpy(to, &whole, sizeof whole);
      return true;
    }
    default: {
      const auto narrow = static_cast<float>(value);
      std::memcpy(to, &narrow, sizeof narrow);
      return true;
    }
  }
}

// Where a field goes.
struct Target {
  int column = -1;  // of the record: -1 is nowhere
  int64_t element = 0;
};

// Which field goes where, from the options and the names of the columns.
struct Layout {
  std::vector<std::string> names;  // "3" for column 3 where there is no header
  std::vector<Target> targets;     // by field
  RecordTypes types;
};

size_t find_column(const Layout& layout, const std::string& name, const std::string& path) {
  const auto found = std::find(layout.names.begin(), layout.names.end(), name);
  if (found != layout.names.end()) return static_cast<size_t>(found - layout.names.begin());
  const auto count = static_cast<int64_t>(layout.names.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size() && number >= -count && number < count) {
    return static_cast<size_t>(number < 0 ? number + count : number);
  }
  std::string there;
  for (size_t i = 0; i < layout.names.size() && there.size() < 500; ++i)
    there += concat(i ? ", '" : "'", layout.names[i], "'");
  fail(ErrorKind::not_found, path, "expected a column '", name, "', got ", there);
}

// Fields that go to tensor `column` of a record, in this order.
void aim(Layout& layout, const std::vector<size_t>& fields, int column, const std::string& path) {
  for (size_t i = 0; i < fields.size(); ++i) {
    Target& target = layout.targets[fields[i]];
    require(target.column < 0, path, "expected each column once among columns, label and weight, got '",
            layout.names[fields[i]], "' twice");
    target = {column, static_cast<int64_t>(i)};
  }
}

void lay_out(Layout& layout, const CsvOptions& options, const std::string& path) {
  layout.targets.resize(layout.names.size());
  const auto find = [&](const std::vector<std::string>& names) {
    std::vector<size_t> fields;
    for (const std::string& name : names) fields.push_back(find_column(layout, name, path));
    return fields;
  };
  std::vector<size_t> x = find(options.columns);
  const std::vector<size_t> y = find(options.label);
  const std::vector<size_t> weight = options.weight.empty() ? std::vector<size_t>() : find({options.weight});
  aim(layout, y, 1, path);
  aim(layout, weight, y.empty() ? 1 : 2, path);
  if (x.empty()) {
    for (size_t i = 0; i < layout.names.size(); ++i) {
      if (layout.targets[i].column < 0) x.push_back(i);
    }
  }
  require(!x.empty(), path, "expected at least one column for x, got none");
  aim(layout, x, 0, path);
  layout.types.x = {{options.dtype, {static_cast<int64_t>(x.size())}}};
  if (y.size() == 1) layout.types.y = {{options.label_dtype, {}}};
  if (y.size() > 1) layout.types.y = {{options.label_dtype, {static_cast<int64_t>(y.size())}}};
  if (!weight.empty()) layout.types.weights = {{DType::f32, {}}};
}

Layout read_layout(const FileSource& file, const CsvOptions& options) {
  Layout layout;
  CsvRows rows(file, options.delimiter);
  Bytes row;
  if (!rows.next(row)) fail(ErrorKind::bad_file, file.name(), "expected rows, got an empty file");
  CsvFields fields(row.text(), options.delimiter);
  std::string room;
  for (std::string_view field; fields.next(field, room);) {
    layout.names.push_back(options.header ? std::string(trimmed(field))
                                          : std::to_string(layout.names.size()));
  }
  if (fields.bad()) fail(ErrorKind::bad_file, file.name(), "line 1: a quote that does not end");
  lay_out(layout, options, file.name());
  return layout;
}

class CsvStream final : public RawStream {
 public:
  CsvStream(const FileSource& file, const CsvOptions& options) : rows_(file, options.delimiter) {
    RawRecord header;
    if (options.header) next(header);
  }
  bool next(RawRecord& record) override {
    if (!rows_.next(record.bytes)) return false;
    record.place = rows_.line();
    return true;
  }

 private:
  CsvRows rows_;
};

class CsvSource final : public Source {
 public:
  CsvSource(FileSource file, Layout layout, const CsvOptions& options)
      : Source(layout.types), file_(std::move(file)), layout_(std::move(layout)), options_(options) {
    for (const TensorType& type : flat_types(types())) dtypes_.push_back(type.dtype);
  }

  bool can_be_bad() const override { return true; }
  std::unique_ptr<RawStream> open(int64_t) const override {
    return std::make_unique<CsvStream>(file_, options_);
  }

  void decode(const RawRecord& record, const Rows& to, int64_t row) const override {
    CsvFields fields(record.bytes.text(), options_.delimiter);
    std::string room;
    size_t index = 0;
    for (std::string_view field; fields.next(field, room); ++index) {
      if (index >= layout_.targets.size()) continue;
      const Target& target = layout_.targets[index];
      if (target.column < 0) continue;
      const DType dtype = dtypes_[static_cast<size_t>(target.column)];
      char* place = to.at(static_cast<size_t>(target.column), row) +
                    target.element * static_cast<int64_t>(size_of(dtype));
      decode_field(trimmed(field), dtype, place, record, index);
    }
    if (fields.bad())
      fail(ErrorKind::bad_file, file_.name(), "line ", record.place, ": a quote that does not end");
    if (index != layout_.targets.size()) {
      fail(ErrorKind::bad_file, file_.name(), "line ", record.place, ": expected ", layout_.targets.size(),
           " fields, got ", index);
    }
  }

 private:
  static bool has_decimal_comma(std::string_view text) {
    std::string point(text);
    const size_t comma = point.find(',');
    if (comma == std::string::npos) return false;
    point[comma] = '.';
    double value = 0;
    return parse_number(point, value);
  }

  void decode_field(std::string_view text, DType dtype, char* to, const RawRecord& record,
                    size_t index) const {
    double value = 0;
    if (is_missing(text)) {
      if (!options_.missing)
        bad(record, index,
            "a missing value: say what it stands for (CsvOptions::missing, --missing), or leave such records "
            "out (skip_bad(), --skip-bad)");
      value = *options_.missing;
    } else if (!parse_number(text, value) && !parse_truth(text, value)) {
      bad(record, index,
          concat("expected a number, got '", text.substr(0, 60),
                 has_decimal_comma(text)
                     ? "': write numbers with a decimal point"
                     : "': turn text into numbers first, or leave the column out (CsvOptions::columns, --x)"));
    }
    if (!store(dtype, value, text, to))
      bad(record, index, concat("expected ", dtype, ", got '", text.substr(0, 60), "'"));
  }

  [[noreturn]] void bad(const RawRecord& record, size_t index, std::string_view what) const {
    fail(ErrorKind::bad_file, file_.name(), "line ", record.place, ", column ", index, " ('",
         layout_.names[index], "'): ", what);
  }

  FileSource file_;
  Layout layout_;
  CsvOptions options_;
  std::vector<DType> dtypes_;
};

}  // namespace

SourcePtr csv_source(const FileSource& file, const CsvOptions& options) {
  require(options.delimiter != '"' && options.delimiter != '\n' && options.delimiter != '\r', "dataset.csv",
          "expected a delimiter that is neither a quote nor the end of a line");
  require(can_hold(options.dtype) && can_hold(options.label_dtype), "dataset.csv",
          "expected dtypes among float32, float64, int32, int64 and uint8, got ", options.dtype, " and ",
          options.label_dtype);
  Layout layout = read_layout(file, options);
  return std::make_shared<CsvSource>(file, std::move(layout), options);
}

}  // namespace plimsoll::data
