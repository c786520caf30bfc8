// Python version numbers and specifiers, as PEP 440 orders and matches them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::doctor {

// One version: 2!1.4.0rc1.post2.dev3+cpu. Immutable value.
class Version {
 public:
  // Nothing if `text` is not a PEP 440 version.
  static std::optional<Version> parse(std::string_view text);

  const std::string& text() const { return text_; }
  uint64_t major() const { return part(0); }
  uint64_t minor() const { return part(1); }
  uint64_t part(size_t i) const { return i < release_.size() ? release_[i] : 0; }
  bool prerelease() const { return pre_kind_ < kFinal || has_dev_; }
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return std::is_eq(*this <=> other); }

 private:
  friend class Specifiers;
  // Order of the phases of one release: development, a, b, rc, final.
  enum Phase { kDev, kAlpha, kBeta, kCandidate, kFinal };
  std::strong_ordering compare_public(const Version& other) const;
  bool starts_with(const Version& prefix) const;

  std::string text_;
  uint64_t epoch_ = 0;
  std::vector<uint64_t> release_;
  Phase pre_kind_ = kFinal;
  uint64_t pre_ = 0, post_ = 0, dev_ = 0;
  bool has_post_ = false, has_dev_ = false;
  std::vector<std::string> local_;
};

// A comma-separated set such as ">=1.26,<3,!=2.0.*". All must hold.
class Specifiers {
 public:
  // Nothing if one of them cannot be understood.
  static std::optional<Specifiers> parse(std::string_view text);
  // Pre-releases are matched like others: the question is whether what is installed will do.
  bool contains(const Version& version) const;
  bool empty() const { return clauses_.empty(); }
  const std::string& text() const { return text_; }
  // The versions that are named in it.
  std::vector<std::string> versions() const;

 private:
  struct Clause {
    std::string op;
    std::optional<Version> version;  // absent for ===
    bool wildcard = false;
    std::string literal;
  };
  static bool matches(const Clause& clause, const Version& version);

  std::string text_;
  std::vector<Clause> clauses_;
};

}  // namespace plimsoll::doctor
