// Files that have the size they should have and not the bytes: zeros in the place of Python, holes in native
// libraries, as disks and interrupted copies leave them. What is read is bounded: Python files of the
// frameworks first, then others; native libraries from the smallest up by their hash in RECORD, the largest
// by samples of their code.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "doctor/exam.h"
#include "doctor/formats/sha256.h"
#include "doctor/parallel.h"
#include "doctor/patience.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kMostSources = 4000;
constexpr uint64_t kMostHashed = 64u << 20, kMostConfirmed = 128u << 20, kMostDoubted = 32u << 20;
constexpr uint64_t kPage = 4096;
// A slow disk must not make the diagnosis slow: what was not reached by then is not looked at.
constexpr std::chrono::milliseconds kLongestSources{400}, kLongestNatives{800};

struct Damage {
  std::mutex mutex;
  std::map<const Distribution*, std::vector<std::string>> files;
  void add(const Distribution* d, std::string text) {
    const std::lock_guard lock(mutex);
    files[d].push_back(std::move(text));
  }
};

bool is_framework(const Distribution& d) {
  for (const std::string_view name :
       {"numpy", "scipy", "pandas", "h5py", "scikit-learn", "matplotlib", "torch", "jax", "jaxlib",
        "tensorflow", "tensorflow-cpu", "keras", "tf-keras", "protobuf", "ipykernel", "ipython",
        "jupyter-client", "traitlets"}) {
    if (d.normal == name) return true;
  }
  return false;
}

// Files that conda wrote have other bytes than their wheels: it puts its own prefix into them.
bool is_checked(const Distribution& d) { return d.has_record && !d.editable && d.installer != "conda"; }

struct Source {
  const Distribution* owner;
  const RecordRow* row;
  size_t rank;
};

std::vector<Source> sources(const Environment& e) {
  std::vector<Source> all;
  for (const Distribution& d : e.distributions) {
    if (!is_checked(d)) continue;
    const size_t base = is_framework(d) ? 0 : 2;
    for (const RecordRow& row : d.record) {
      if (!row.path.ends_with(".py") || row.path.starts_with("../") || contains(row.path, "/tests/"))
        continue;
      const auto depth = static_cast<size_t>(std::count(row.path.begin(), row.path.end(), '/'));
      all.push_back({&d, &row, base + depth});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Source& a, const Source& b) { return a.rank < b.rank; });
  if (all.size() > kMostSources) all.resize(kMostSources);
  return all;
}

// Python refuses a source file with a NUL in it.
void check_sources(const Exam& exam, const Patience& patience, Damage& damage) {
  const std::vector<Source> all = sources(exam.environment);
  parallel_for(all.size(), [&](size_t i) {
    if (patience.over()) return;
    const Source& s = all[i];
    const std::optional<std::string> text = read_text(s.owner->site / s.row->path, 4u << 20);
    if (!text || text->empty()) return;
    const size_t zeros = static_cast<size_t>(std::count(text->begin(), text->end(), '\0'));
    if (zeros == text->size())
      damage.add(s.owner, s.row->path + " holds nothing but zeros");
    else if (zeros > 0)
      damage.add(s.owner, concat(s.row->path, " holds ", zeros, " bytes of zero"));
  });
}

bool is_as_recorded(const Library& library, const RecordRow& row) {
  return row.hash == "sha256=" + sha256_base64(library.file->bytes().text());
}

bool is_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

struct Hole {
  uint64_t at;
  bool in_code;  // elsewhere pages of zeros may be meant
};

// A hole is 64 KiB or more: that much is never meant in code, and one look in each 64 KiB finds it.
constexpr uint64_t kLeastHole = 16 * kPage;

bool is_long_hole(const Bytes& file, uint64_t at) {
  uint64_t begin = at, end = at;
  while (begin >= kPage && at - begin < kLeastHole && is_zero(file.text(begin - kPage, kPage)))
    begin -= kPage;
  while (file.has(end, kPage) && end - begin < kLeastHole && is_zero(file.text(end, kPage))) end += kPage;
  return end - begin >= kLeastHole;
}

// The first hole, one in the code before others.
std::optional<Hole> find_hole(const Library& library, const Patience& patience) {
  const Bytes file = library.file->bytes();
  const auto code = library.elf ? library.elf->code() : std::vector<std::pair<uint64_t, uint64_t>>();
  std::optional<Hole> hole;
  for (uint64_t at = 0; file.has(at, kPage); at += kLeastHole) {
    if (at / kLeastHole % 16 == 0 && patience.over()) break;
    if (!is_zero(file.text(at, 64)) || !is_zero(file.text(at, kPage)) || !is_long_hole(file, at)) continue;
    for (const auto& [offset, size] : code) {
      if (at >= offset && at + kPage <= offset + size) return Hole{at, true};
    }
    if (!hole) hole = Hole{at, false};
  }
  return hole;
}

struct Native {
  const Library* library;
  const RecordRow* row;
  uint64_t size;
  bool hashed;
};

// Native files that two projects record: whose bytes they are is another finding (overlapping_files).
std::set<std::string> shared_natives(const Environment& e) {
  std::set<std::string> seen, shared;
  for (const Distribution& d : e.distributions) {
    for (const RecordRow& row : d.record) {
      if (!contains(row.path, ".so")) continue;
      std::string path = (d.site / row.path).string();
      if (!seen.insert(path).second) shared.insert(std::move(path));
    }
  }
  return shared;
}

std::vector<Native> natives(const Exam& exam) {
  std::vector<Native> all;
  std::error_code ignored;
  const std::set<std::string> shared = shared_natives(exam.environment);
  for (const auto& library : exam.libraries.all()) {
    if (!library->in_environment || !library->owner || !library->file || !is_checked(*library->owner))
      continue;
    if ((!library->elf && library->slices.empty()) || std::filesystem::is_symlink(library->path, ignored))
      continue;
    const RecordRow* row = library->row;
    const uint64_t size = library->file->bytes().size();
    // Stripped and patched libraries have another size, and are fine.
    if (!row || !row->hash.starts_with("sha256=") || row->size != size) continue;
    if (shared.contains(library->path.string())) continue;
    all.push_back({library.get(), row, size, false});
  }
  std::stable_sort(all.begin(), all.end(), [](const Native& a, const Native& b) { return a.size < b.size; });
  uint64_t total = 0;
  for (Native& n : all) n.hashed = (total += n.size) <= kMostHashed;
  return all;
}

void check_natives(const Exam& exam, const Patience& patience, Damage& damage) {
  const std::vector<Native> all = natives(exam);
  parallel_for(all.size(), [&](size_t i) {
    if (patience.over()) return;
    const Native& n = all[i];
    if (n.hashed) {
      if (!is_as_recorded(*n.library, *n.row))
        damage.add(n.library->owner, n.library->shown + " differs from its SHA-256 in RECORD");
    } else if (const auto hole = find_hole(*n.library, patience)) {
      const bool told_by_hash = n.size <= (hole->in_code ? kMostConfirmed : kMostDoubted);
      if (told_by_hash ? !is_as_recorded(*n.library, *n.row) : hole->in_code)
        damage.add(n.library->owner, concat(n.library->shown, " has a hole of zeros, at byte ", hole->at));
    }
  });
}

}  // namespace

void find_damaged_files(const Exam& exam, Findings& findings) {
  Damage damage;
  check_sources(exam, Patience(kLongestSources), damage);
  check_natives(exam, Patience(kLongestNatives), damage);
  for (auto& [owner, files] : damage.files) {
    std::sort(files.begin(), files.end());
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(owner->shown(), " is damaged: files have the right size, but not what was installed"),
         {some_of(files)},
         "SyntaxError: source code cannot contain null bytes, or a crash inside the library",
         "",
         reinstall(*owner)});
  }
}

}  // namespace plimsoll::doctor
