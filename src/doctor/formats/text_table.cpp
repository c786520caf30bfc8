#include "doctor/formats/text_table.h"

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll::doctor {
// The byte at which the text stops to be UTF-8; npos: it does not.
size_t end_of_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t length = byte < 0x80                   ? 1
                          : byte >= 0xc2 && byte < 0xe0 ? 2
                          : byte >= 0xe0 && byte < 0xf0 ? 3
                                                        : 4;
    if (length == 4 && (byte < 0xf0 || byte > 0xf4)) return i;
    if (i + length > text.size()) return i;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

namespace {

constexpr size_t kMost = 64u << 20;  // bytes that are looked at

struct Rows {
  size_t rows = 0, columns = 0;
  size_t long_row = 0, fields = 0;  // the first row with more fields than the first; 0: none
  size_t open_quote = 0;            // the row in which a quoted field begins that does not end
};

// A field may stand in quotes, with separators, ends of lines and doubled quotes inside.
Rows rows_of(std::string_view text, char separator) {
  Rows r;
  size_t fields = 1, row = 1;
  bool quoted = false, field_begins = true, empty = true;
  const auto end_row = [&] {
    if (empty) return;  // pandas and csv leave empty lines out
    if (r.rows++ == 0) r.columns = fields;
    if (fields > r.columns && r.long_row == 0) r.long_row = row, r.fields = fields;
  };
  for (const char c : text) {
    if (c == '"' && (quoted || field_begins)) {
      quoted = !quoted;
      if (quoted) r.open_quote = row;
      field_begins = !quoted;  // a second quote behind an end: it was a doubled one
      empty = false;
    } else if (quoted) {
      row += c == '\n';
    } else if (c == '\n') {
      end_row();
      ++row;
      fields = 1;
      field_begins = empty = true;
    } else if (c != '\r') {
      fields += c == separator;
      field_begins = c == separator;
      empty = false;
    }
  }
  end_row();
  if (!quoted) r.open_quote = 0;
  return r;
}

DataFile unreadable(std::string kind, std::string trouble, std::string error, std::string fix) {
  return {std::move(kind), std::move(trouble), false, "", std::move(fix), std::move(error)};
}

}  // namespace

DataFile inspect_text_table(std::string_view bytes, char separator) {
  std::string kind = separator == ',' ? "a table as text (CSV)" : "a table as text (TSV)";
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
    return unreadable(kind, "it is UTF-16, not UTF-8", "UnicodeDecodeError, from pandas.read_csv and open",
                      "Read it with encoding='utf-16'.");
  const bool all_there = bytes.size() <= kMost;
  std::string_view text = bytes.substr(0, kMost);
  if (!all_there) text = text.substr(0, text.rfind('\n') + 1);
  if (text.find('\0') != std::string_view::npos)
    return {kind, "there are zero bytes in it, which no text has"};
  if (const size_t at = end_of_utf8(text); at != std::string_view::npos)
    return unreadable(kind, concat("the byte at ", at, " is not UTF-8"),
                      "UnicodeDecodeError, from pandas.read_csv and open",
                      "Read it with the encoding it was written in, such as encoding='latin-1' or 'cp1252'.");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // pandas and Excel write and read it
  // Whoever writes with semicolons or tabs knows: commas are then part of the values.
  const std::string_view first = text.substr(0, text.find('\n'));
  for (const char other : {';', '\t'}) {
    if (first.find(separator) == std::string_view::npos && first.find(other) != std::string_view::npos)
      separator = other;
  }
  const Rows r = rows_of(text, separator);
  if (r.open_quote != 0 && all_there)
    return {kind, concat("the quote that begins in line ", r.open_quote, " does not end")};
  if (r.long_row != 0)
    return unreadable(
        kind, concat("line ", r.long_row, " has ", r.fields, " fields, the first ", r.columns),
        "ParserError: Error tokenizing data, from pandas.read_csv",
        "Put values with commas in quotes; skip lines above the table with skiprows=, lines that "
        "do not fit with on_bad_lines='skip'.");
  DataFile table{kind, ""};
  table.whole =
      concat("It has ", r.columns, r.columns == 1 ? " column" : " columns", " and ", r.rows,
             all_there ? "" : " or more", r.rows == 1 ? " row" : " rows", ", the first among them.");
  return table;
}

}  // namespace plimsoll::doctor
