#include "doctor/program_text.h"

#include <algorithm>

#include "doctor/formats/text_table.h"
#include "doctor/python/source.h"
#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

struct Character {
  std::string_view bytes, name, code;
};
constexpr Character kForeign[] = {
    {"\xc2\xa0", "a no-break space", "U+00A0"},
    {"\xe2\x80\x98", "a typographic quote", "U+2018"},
    {"\xe2\x80\x99", "a typographic quote", "U+2019"},
    {"\xe2\x80\x9c", "a typographic quote", "U+201C"},
    {"\xe2\x80\x9d", "a typographic quote", "U+201D"},
    {"\xe2\x80\x8b", "a zero-width space", "U+200B"},
    {"\xe2\x80\x93", "a dash in place of -", "U+2013"},
    {"\xe2\x88\x92", "a minus sign in place of -", "U+2212"},
    {"\xef\xbb\xbf", "a byte order mark", "U+FEFF"},
    {"\xe3\x80\x80", "an ideographic space", "U+3000"},
    {"\xef\xbc\x88", "a wide bracket", "U+FF08"},
    {"\xef\xbc\x89", "a wide bracket", "U+FF09"},
    {"\xef\xbc\x8c", "a wide comma", "U+FF0C"},
};

size_t line_at(std::string_view source, size_t at) {
  return 1 + static_cast<size_t>(std::count(source.begin(), source.begin() + static_cast<long>(at), '\n'));
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// One string literal: its prefix, and where its text lies.
struct Literal {
  std::string prefix;
  size_t begin = 0, end = 0;  // of the text, without quotes
  bool closed = true;
};

// Calls f(literal) for each string; comments are passed over. `outside` gets the rest, with every string and
// comment as spaces, in its place.
template <class F>
std::string for_each_string(std::string_view source, const F& f) {
  std::string outside(source);
  const auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end && i < outside.size(); ++i) {
      if (outside[i] != '\n') outside[i] = ' ';
    }
  };
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '#') {
      const size_t end = std::min(source.find('\n', i), source.size());
      blank(i, end);
      i = end;
    }
    if (c != '"' && c != '\'') continue;
    size_t start = i;
    while (start > 0 && i - start < 3 && is_alpha(source[start - 1])) --start;
    Literal l{lower_case(source.substr(start, i - start)), 0, 0, true};
    const bool triple = source.substr(i, 3) == std::string(3, c);
    l.begin = i + (triple ? 3 : 1);
    size_t at = l.begin;
    const std::string_view close = source.substr(i, triple ? 3 : 1);
    while (at < source.size() && source.substr(at, close.size()) != close && (triple || source[at] != '\n'))
      at += source[at] == '\\' ? 2 : 1;
    l.end = std::min(at, source.size());
    l.closed = at < source.size() && source.substr(at, close.size()) == close;
    f(l);
    const size_t end = l.closed ? at + close.size() : l.end;
    blank(i, end);
    i = std::max(i, end - 1);
  }
  return outside;
}

// \U and \u ask for digits, \N for a name, \x for two digits: a path of Windows has none.
std::string broken_escape(std::string_view text, const std::string& prefix) {
  if (contains(prefix, "r")) return "";
  const bool bytes = contains(prefix, "b");
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') continue;
    const char kind = text[++i];
    const size_t digits = kind == 'x' ? 2 : bytes ? 0 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    size_t there = 0;
    while (there < digits && i + 1 + there < text.size() && is_hex(text[i + 1 + there])) ++there;
    const bool name = !bytes && kind == 'N' && text.substr(i + 1, 1) != "{";
    const bool too_high = kind == 'U' && there == 8 && text.substr(i + 1, 2) != "00";
    if (there < digits || name || too_high) return concat("\\", std::string_view(&text[i], 1));
  }
  return "";
}

std::optional<TextTrouble> foreign_character(std::string_view outside, std::string_view source) {
  for (const Character& c : kForeign) {
    const size_t at = outside.find(c.bytes);
    const bool mark = at == 0 && c.code == "U+FEFF";
    if (at == std::string_view::npos || mark) continue;
    return TextTrouble{
        concat("line ", line_at(source, at), " holds ", c.name, " (", c.code, ")"),
        concat("SyntaxError: invalid character, or invalid non-printable character ", c.code),
        concat("Write that line anew with plain spaces, quotes and signs: text copied from web "
               "pages and PDFs has others (",
               c.code, ").")};
  }
  return std::nullopt;
}

bool has_future_annotations(const SourceLines& lines) {
  for (size_t i = 0; i < lines.size() && i < 60; ++i) {
    if (lines[i].text.starts_with("from __future__") && has_word(lines[i].text, "annotations")) return true;
  }
  return false;
}

// A word of a grammar that came with a later Python.
std::optional<TextTrouble> newer_python(const SourceLines& lines, uint64_t minor) {
  const auto tell = [&](const SourceLine& line, std::string_view what, uint64_t since, std::string leads_to) {
    const std::string shown(trim(line.whole).substr(0, trim(line.whole).find('\n')).substr(0, 60));
    return TextTrouble{
        concat("it is written for Python 3.", since, " (", what, "): ", shown), std::move(leads_to),
        concat("Run it with Python 3.", since, " or newer: uv venv --python 3.", since,
               what == "X | None" ? ". Or write Optional[X], or from __future__ import annotations."
                                  : ". Or write that line in older words.")};
  };
  const std::string error = "SyntaxError: invalid syntax, before its first line runs";
  const bool texts = has_future_annotations(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    const bool block = i + 1 < lines.size() && lines[i + 1].indent > lines[i].indent;
    if (minor < 10 && text.starts_with("match ") && text.ends_with(":") && block &&
        lines[i + 1].text.starts_with("case "))
      return tell(lines[i], "match", 10, error);
    if (minor < 11 && (text.starts_with("except*") || text.starts_with("except *")))
      return tell(lines[i], "except*", 11, error);
    if (minor < 8 && contains(text, ":=")) return tell(lines[i], ":=", 8, error);
    const bool head = text.starts_with("def ") || text.starts_with("async def ");
    const size_t bracket = text.find_first_of("[(:");
    if (minor < 12 && (head || text.starts_with("class ")) && bracket != std::string_view::npos &&
        text[bracket] == '[')
      return tell(lines[i], "type parameters", 12, error);
    if (!head || texts) continue;
    if (minor < 10 && (contains(text, " | None") || contains(text, "None | ")))
      return tell(lines[i], "X | None", 10, "TypeError: unsupported operand type(s) for |");
    for (const std::string_view type : {"list[", "dict[", "tuple[", "set["}) {
      if (minor < 9 && (contains(text, concat(": ", type)) || contains(text, concat("-> ", type))))
        return tell(lines[i], concat(type, "...]"), 9, "TypeError: 'type' object is not subscriptable");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<TextTrouble> text_trouble(std::string_view source, uint64_t minor) {
  std::optional<TextTrouble> found;
  const std::string outside = for_each_string(source, [&](const Literal& l) {
    const std::string escape = broken_escape(source.substr(l.begin, l.end - l.begin), l.prefix);
    if (escape.empty() || found || !l.closed) return;
    found = TextTrouble{concat("line ", line_at(source, l.begin), " has a path or text with ", escape,
                               ", which Python takes for a character's number"),
                        "SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes",
                        concat("Write r'...' (a raw string) on line ", line_at(source, l.begin),
                               ", or / in place of each backslash.")};
  });
  if (!found) found = foreign_character(outside, source);
  return found ? found : newer_python(SourceLines(source), minor);
}

std::optional<TextTrouble> encoding_trouble(std::string_view source, std::string_view file) {
  const size_t at = end_of_utf8(source);
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> lines = split(source.substr(0, 500), "\n");
  for (size_t i = 0; i < lines.size() && i < 2; ++i) {
    if (contains(lines[i], "#") && contains(lines[i], "coding")) return std::nullopt;
  }
  if (source.starts_with("\xff\xfe") || source.starts_with("\xfe\xff"))
    return TextTrouble{"it is saved as UTF-16, not as UTF-8",
                       "SyntaxError: source code cannot contain null bytes, or Non-UTF-8 code",
                       concat("iconv -f UTF-16 -t UTF-8 ", file, " > utf8.tmp && mv utf8.tmp ", file)};
  return TextTrouble{
      concat("line ", line_at(source, at), " is not UTF-8: the file is saved in another encoding"),
      "SyntaxError: Non-UTF-8 code, but no encoding declared",
      concat("iconv -f CP1252 -t UTF-8 ", file, " > utf8.tmp && mv utf8.tmp ", file,
             "   # or # -*- coding: cp1252 -*- as its first line")};
}

}  // namespace plimsoll::doctor
