// Two versions of one CUDA library: the first that is loaded serves all, and whoever was built for the other
// fails.
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// "cudnn" of libcudnn.so.9; empty for what is none of NVIDIA's.
std::string family_of(std::string_view file) {
  for (const std::string_view name : {"cudnn", "cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver",
                                      "cusparse", "nccl", "nvinfer"}) {
    if (file.starts_with(concat("lib", name, ".so"))) return std::string(name);
  }
  return "";
}

struct Copy {
  fs::path path;
  const Distribution* owner = nullptr;
  std::string soname, version;
  uint64_t size = 0;
  bool by_path = false;  // found through LD_LIBRARY_PATH
  std::string entry;
};

// "9.1.0" of libcudnn.so.9.1.0, where the name goes so far; else the version of NVIDIA's own project.
std::string version_of(const Copy& copy) {
  if (copy.owner && copy.owner->normal.starts_with("nvidia-")) return copy.owner->version_text;
  const std::string name = real_path(copy.path).filename().string();
  const size_t at = name.find(".so.");
  const std::string number = at == std::string::npos ? "" : name.substr(at + 4);
  return contains(number, ".") ? number : "";
}

void add_copy(std::map<std::string, std::map<std::string, Copy>>& families, Copy copy) {
  const std::string family = family_of(copy.path.filename().string());
  const fs::path file = real_path(copy.path);
  if (family.empty() || file.empty()) return;
  copy.version = version_of(copy);
  families[family].emplace(file.string(), std::move(copy));
}

std::map<std::string, std::map<std::string, Copy>> all_copies(const Exam& exam) {
  std::map<std::string, std::map<std::string, Copy>> families;  // by family, then by real file
  for (const auto& l : exam.libraries.all()) {
    if (!l->elf || !l->in_environment) continue;
    add_copy(families,
             {l->path, l->owner, std::string(l->elf->soname()), "", l->file->bytes().size(), false, ""});
  }
  for (const std::string_view entry : split(exam.system.variable("LD_LIBRARY_PATH"), ":")) {
    if (entry.empty()) continue;
    for (const fs::path& path : list_folder(entry)) {
      if (family_of(path.filename().string()).empty()) continue;
      const std::optional<MappedFile> file = MappedFile::open(path);
      try {
        if (file && Elf::looks_like(file->bytes()))
          add_copy(families, {path, nullptr, std::string(Elf(file->bytes()).soname()), "",
                              file->bytes().size(), true, std::string(entry)});
      } catch (const Error&) {
        // Nothing the loader could load.
      }
    }
  }
  return families;
}

bool same(const Copy& a, const Copy& b) {
  if (a.soname == b.soname && !a.version.empty() && !b.version.empty()) return a.version == b.version;
  if (a.soname != b.soname || a.size != b.size) return false;
  const std::optional<MappedFile> one = MappedFile::open(a.path), two = MappedFile::open(b.path);
  return !one || !two || one->bytes().text() == two->bytes().text();
}

std::string shown(const Copy& c) {
  std::string what = c.version.empty() ? c.soname : c.version;
  if (c.owner) what += ", of " + c.owner->shown();
  return concat(c.path.string(), " (", what, ")");
}

// Of two copies in one environment the one that no project of NVIDIA's brings is in the way.
void remedy(const Exam& exam, const Copy& a, const Copy& b, Finding& f) {
  for (const Copy* c : {&a, &b}) {
    if (c->by_path) {
      f.fix = without_entry_command(exam, "LD_LIBRARY_PATH", c->entry);
      return;
    }
  }
  const bool a_own = a.owner && a.owner->normal.starts_with("nvidia-");
  const bool b_own = b.owner && b.owner->normal.starts_with("nvidia-");
  if (a_own && b_own) {
    const Distribution& older =
        a.owner->version && b.owner->version && *a.owner->version < *b.owner->version ? *a.owner : *b.owner;
    const Distribution& newer = &older == a.owner ? *b.owner : *a.owner;
    f.removes = {older.name};
    f.installs = reinstall(newer);
  } else if (const Distribution* bundler = a_own ? b.owner : a.owner) {
    // A build of the framework that takes NVIDIA's projects instead of its own copy.
    f.installs = {{concat(bundler->name, "!=", bundler->version_text), "", false}};
  } else {
    f.fix = "mv " + shell_word(a_own ? b.path : a.path) + " " +
            shell_word((a_own ? b.path : a.path).string() + ".unused");
  }
}

}  // namespace

void find_cuda_copies(const Exam& exam, Findings& findings) {
  for (const auto& [family, copies] : all_copies(exam)) {
    for (auto i = copies.begin(); i != copies.end(); ++i) {
      for (auto j = std::next(i); j != copies.end(); ++j) {
        const Copy &a = i->second, &b = j->second;
        if (same(a, b)) continue;
        // Different names can live side by side, except cuDNN's, which loads its parts by name.
        const bool clash = a.soname == b.soname || family == "cudnn";
        Finding f;
        f.severity = clash ? Severity::warning : Severity::note;
        f.sureness = clash ? Sureness::likely : Sureness::possible;
        f.what = concat("Two versions of lib", family, " are here; the first that is loaded serves everyone");
        f.evidence = {shown(a), shown(b)};
        f.leads_to = family == "cudnn"
                         ? "cuDNN version incompatibility: compiled against one version, loaded another"
                         : "Undefined symbols, or CUDA errors, in whoever was built for the other";
        remedy(exam, a, b, f);
        findings.push_back(f);
        i = std::prev(copies.end());  // one pair says it
        break;
      }
    }
  }
}

}  // namespace plimsoll::doctor
