#include "doctor/python/version.h"

#include <algorithm>
#include <cctype>

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

// Takes pieces off the front of a version in lower case.
struct Cursor {
  std::string_view rest;

  bool take(std::string_view word) {
    if (!rest.starts_with(word)) return false;
    rest.remove_prefix(word.size());
    return true;
  }
  bool at_digit() const { return !rest.empty() && is_digit(rest.front()); }
  // A number; one too long for 64 bits saturates, which keeps its order.
  uint64_t number() {
    uint64_t value = 0;
    while (at_digit()) {
      const uint64_t digit = static_cast<uint64_t>(rest.front() - '0');
      value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
      rest.remove_prefix(1);
    }
    return value;
  }
  bool skip_separator() {
    if (rest.empty() || (rest.front() != '.' && rest.front() != '-' && rest.front() != '_')) return false;
    rest.remove_prefix(1);
    return true;
  }
  // A word of `words` after an optional separator, then an optional separator and number.
  bool take_tagged(std::initializer_list<std::string_view> words, uint64_t& value) {
    Cursor trial = *this;
    trial.skip_separator();
    for (const std::string_view word : words) {
      if (!trial.take(word)) continue;
      Cursor with_number = trial;
      with_number.skip_separator();
      value = 0;
      if (with_number.at_digit()) {
        value = with_number.number();
        trial = with_number;
      }
      *this = trial;
      return true;
    }
    return false;
  }
};

std::strong_ordering compare_local(const std::string& a, const std::string& b) {
  const bool a_number = is_digit(a.front()), b_number = is_digit(b.front());
  if (a_number != b_number) return a_number <=> b_number;
  if (!a_number) return a.compare(b) <=> 0;
  Cursor x{a}, y{b};
  return x.number() <=> y.number();
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  Version v;
  v.text_ = std::string(trim(text));
  const std::string lower = lower_case(v.text_);
  Cursor c{lower};
  c.take("v");
  if (!c.at_digit()) return std::nullopt;
  const uint64_t first = c.number();
  if (c.take("!")) {
    v.epoch_ = first;
    if (!c.at_digit()) return std::nullopt;
    v.release_.push_back(c.number());
  } else {
    v.release_.push_back(first);
  }
  while (c.rest.size() > 1 && c.rest[0] == '.' && is_digit(c.rest[1])) {
    c.take(".");
    v.release_.push_back(c.number());
  }
  if (c.take_tagged({"alpha", "a"}, v.pre_)) {
    v.pre_kind_ = kAlpha;
  } else if (c.take_tagged({"beta", "b"}, v.pre_)) {
    v.pre_kind_ = kBeta;
  } else if (c.take_tagged({"preview", "pre", "rc", "c"}, v.pre_)) {
    v.pre_kind_ = kCandidate;
  }
  if (c.take_tagged({"post", "rev", "r"}, v.post_)) {
    v.has_post_ = true;
  } else if (c.rest.size() > 1 && c.rest[0] == '-' && is_digit(c.rest[1])) {
    c.take("-");
    v.post_ = c.number();
    v.has_post_ = true;
  }
  v.has_dev_ = c.take_tagged({"dev"}, v.dev_);
  if (c.take("+")) {
    for (const std::string_view part : split(c.rest, ".-_")) {
      if (part.empty() || !std::all_of(part.begin(), part.end(), is_alphanumeric)) return std::nullopt;
      v.local_.emplace_back(part);
    }
    c.rest = {};
  }
  return c.rest.empty() ? std::optional(v) : std::nullopt;
}

std::strong_ordering Version::compare_public(const Version& o) const {
  if (const auto c = epoch_ <=> o.epoch_; c != 0) return c;
  for (size_t i = 0; i < std::max(release_.size(), o.release_.size()); ++i) {
    if (const auto c = part(i) <=> o.part(i); c != 0) return c;
  }
  // 1.0.dev1 comes before 1.0a1; 1.0.post1.dev1 does not.
  const auto phase = [](const Version& v) {
    return v.pre_kind_ == kFinal && !v.has_post_ && v.has_dev_ ? kDev : v.pre_kind_;
  };
  if (const auto c = phase(*this) <=> phase(o); c != 0) return c;
  if (const auto c = pre_ <=> o.pre_; c != 0) return c;
  if (const auto c = has_post_ <=> o.has_post_; c != 0) return c;
  if (const auto c = post_ <=> o.post_; c != 0) return c;
  if (const auto c = o.has_dev_ <=> has_dev_; c != 0) return c;
  return dev_ <=> o.dev_;
}

std::strong_ordering Version::operator<=>(const Version& o) const {
  if (const auto c = compare_public(o); c != 0) return c;
  for (size_t i = 0; i < std::min(local_.size(), o.local_.size()); ++i) {
    if (const auto c = compare_local(local_[i], o.local_[i]); c != 0) return c;
  }
  return local_.size() <=> o.local_.size();
}

bool Version::starts_with(const Version& prefix) const {
  if (epoch_ != prefix.epoch_) return false;
  for (size_t i = 0; i < prefix.release_.size(); ++i) {
    if (part(i) != prefix.part(i)) return false;
  }
  return prefix.pre_kind_ == kFinal || (pre_kind_ == prefix.pre_kind_ && pre_ == prefix.pre_);
}

std::optional<Specifiers> Specifiers::parse(std::string_view text) {
  Specifiers result;
  result.text_ = std::string(trim(text));
  for (std::string_view clause : split(text, ",")) {
    clause = trim(clause);
    if (clause.empty()) continue;
    Clause c;
    for (const std::string_view op : {"===", "~=", "==", "!=", "<=", ">=", "<", ">"}) {
      if (clause.starts_with(op)) {
        c.op = op;
        break;
      }
    }
    if (c.op.empty()) return std::nullopt;
    clause = trim(clause.substr(c.op.size()));
    c.literal = std::string(clause);
    if (clause.ends_with(".*")) {
      if (c.op != "==" && c.op != "!=") return std::nullopt;
      c.wildcard = true;
      clause.remove_suffix(2);
    }
    c.version = Version::parse(clause);
    if (!c.version && c.op != "===") return std::nullopt;
    if (c.op == "~=" && c.version->release_.size() < 2) return std::nullopt;
    result.clauses_.push_back(std::move(c));
  }
  return result;
}

bool Specifiers::matches(const Clause& c, const Version& v) {
  if (c.op == "===") return lower_case(v.text()) == lower_case(c.literal);
  const Version& wanted = *c.version;
  if (c.wildcard) return v.starts_with(wanted) == (c.op == "==");
  // A local part (+cpu) counts only where the specifier names one.
  const auto order = wanted.local_.empty() ? v.compare_public(wanted) : v <=> wanted;
  if (c.op == "==") return order == 0;
  if (c.op == "!=") return order != 0;
  if (c.op == "<=") return v.compare_public(wanted) <= 0;
  if (c.op == ">=") return v.compare_public(wanted) >= 0;
  const auto same_release = [&] {
    for (size_t i = 0; i < std::max(v.release_.size(), wanted.release_.size()); ++i) {
      if (v.part(i) != wanted.part(i)) return false;
    }
    return v.epoch_ == wanted.epoch_;
  };
  // "<3" is not met by 3.0rc1, ">2" not by 2.post1.
  if (c.op == "<") return order < 0 && !(same_release() && v.prerelease() && !wanted.prerelease());
  if (c.op == ">") return order > 0 && !(same_release() && v.has_post_ && !wanted.has_post_);
  Version prefix = wanted;
  prefix.release_.pop_back();
  prefix.pre_kind_ = Version::kFinal;
  return v.compare_public(wanted) >= 0 && v.starts_with(prefix);
}

bool Specifiers::contains(const Version& version) const {
  return std::all_of(clauses_.begin(), clauses_.end(), [&](const Clause& c) { return matches(c, version); });
}

std::vector<std::string> Specifiers::versions() const {
  std::vector<std::string> all;
  for (const Clause& c : clauses_) {
    if (c.version) all.push_back(c.version->text());
  }
  return all;
}

}  // namespace plimsoll::doctor
