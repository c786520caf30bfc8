// CsvRows: the rows of a CSV file as text, one after the other, with quotes still in them. Ends of lines are
// \n or \r\n, except inside quotes; empty lines are passed over. Holds one block of the file and one row.
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/file_source.h"
#include "data/source.h"

namespace plimsoll::data {

class CsvRows {
 public:
  CsvRows(FileSource file, char delimiter);
  // Puts the next row into `row`; false at the end. Throws Error{bad_file} if a row is longer than
  // kLongestRow.
  bool next(Bytes& row);
  // Of the last row's beginning, from 1.
  int64_t line() const { return line_; }

  static constexpr int64_t kLongestRow = 16 << 20;

 private:
  bool refill();
  bool read_line(Bytes& row);
  bool open_quote(std::string_view more);

  FileSource file_;
  char delimiter_;
  Bytes block_;
  int64_t at_ = 0;        // in the block
  uint64_t file_at_ = 0;  // of the block's end
  int64_t line_ = 0;
  int64_t lines_ = 0;  // read so far
  // Where the row stands, for the part of it that was looked at.
  bool in_quotes_ = false;
  bool field_begins_ = true;
};

// The fields of a row, unquoted.
class CsvFields {
 public:
  CsvFields(std::string_view row, char delimiter) : row_(row), delimiter_(delimiter) {}
  // False after the last field, and if a quote does not end: then bad() is set. A quoted field is unquoted
  // into `room`.
  bool next(std::string_view& field, std::string& room);
  bool bad() const { return bad_; }

 private:
  std::string_view quoted(std::string& room);

  std::string_view row_;
  char delimiter_;
  size_t at_ = 0;
  bool ended_ = false;
  bool bad_ = false;
};

}  // namespace plimsoll::data
