#include "data/csv_rows.h"

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

constexpr int64_t kBlock = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvRows::CsvRows(FileSource file, char delimiter) : file_(std::move(file)), delimiter_(delimiter) {
  if (!refill()) return;
  if (block_.text().starts_with(kByteOrderMark)) at_ = static_cast<int64_t>(kByteOrderMark.size());
  for (const std::string_view mark : {"\xFF\xFE", "\xFE\xFF"}) {
    if (block_.text().starts_with(mark))
      fail(ErrorKind::bad_file, file_.name(),
           "expected UTF-8, got UTF-16. Save it as UTF-8 (in Excel: \"CSV UTF-8\"), or: iconv -f UTF-16 -t "
           "UTF-8");
  }
}

bool CsvRows::refill() {
  const auto count = static_cast<int64_t>(std::min<uint64_t>(kBlock, file_.size() - file_at_));
  at_ = 0;
  file_.read(file_at_, block_.resize(count), static_cast<uint64_t>(count));
  file_at_ += static_cast<uint64_t>(count);
  return count > 0;
}

bool CsvRows::next(Bytes& row) {
  do {
    row.resize(0);
    line_ = lines_ + 1;
    in_quotes_ = false;
    field_begins_ = true;
    if (!read_line(row)) return false;
    if (row.size() > 0 && row.text().back() == '\r') row.resize(row.size() - 1);
  } while (row.size() == 0);
  return true;
}

// Appends up to the end of the line that ends the row; false if there is nothing any more.
bool CsvRows::read_line(Bytes& row) {
  bool any = false;
  while (at_ < block_.size() || refill()) {
    any = true;
    const char* begin = block_.data() + at_;
    const auto left = static_cast<size_t>(block_.size() - at_);
    const auto* end = static_cast<const char*>(std::memchr(begin, '\n', left));
    const std::string_view part(begin, end != nullptr ? static_cast<size_t>(end - begin) : left);
    if (static_cast<int64_t>(part.size()) > kLongestRow - row.size()) {
      fail(ErrorKind::bad_file, file_.name(), "line ", line_, ": a row of more than ", kLongestRow,
           " bytes: is a quote not closed?");
    }
    row.append(part);
    at_ += static_cast<int64_t>(part.size());
    const bool open = open_quote(part);
    if (end == nullptr) continue;
    ++at_;
    ++lines_;
    if (open) {
      row.append("\n");
      continue;
    }
    return true;
  }
  return any;
}

// Whether the row ends inside quotes after `more`. A quote opens only at the beginning of a field.
bool CsvRows::open_quote(std::string_view more) {
  if (!in_quotes_ && std::memchr(more.data(), '"', more.size()) == nullptr) {
    field_begins_ = more.empty() ? field_begins_ : more.back() == delimiter_;
    return false;
  }
  for (const char c : more) {
    if (c == '"' && (in_quotes_ || field_begins_)) in_quotes_ = !in_quotes_;
    // A quote that closes may be the first of two, which stand for one: then the next opens again.
    field_begins_ = !in_quotes_ && (c == delimiter_ || c == '"');
  }
  return in_quotes_;
}

bool CsvFields::next(std::string_view& field, std::string& room) {
  if (ended_) return false;
  if (at_ < row_.size() && row_[at_] == '"') {
    field = quoted(room);
    if (bad_) return false;
  } else {
    const size_t end = std::min(row_.find(delimiter_, at_), row_.size());
    field = row_.substr(at_, end - at_);
    at_ = end;
  }
  ended_ = at_ >= row_.size();
  ++at_;  // past the delimiter
  return true;
}

std::string_view CsvFields::quoted(std::string& room) {
  room.clear();
  for (++at_;; at_ += 2) {
    const size_t end = row_.find('"', at_);
    if (end == std::string_view::npos) {
      bad_ = true;
      return {};
    }
    room.append(row_.substr(at_, end - at_));
    at_ = end;
    if (end + 1 >= row_.size() || row_[end + 1] != '"') break;
    room += '"';
  }
  ++at_;
  const size_t end = std::min(row_.find(delimiter_, at_), row_.size());
  room.append(
      row_.substr(at_, end - at_));  // what follows the quotes belongs to the field, as pandas reads it
  at_ = end;
  return room;
}

}  // namespace plimsoll::data
