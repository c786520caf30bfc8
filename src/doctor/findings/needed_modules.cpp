// Modules that a package imports whenever it is imported, and that are nowhere, though its metadata does not
// ask for them: pkg_resources, which new setuptools lack, or what Python itself has dropped. Followed from
// each package's __init__.py through the import statements that always run.
#include <algorithm>
#include <chrono>
#include <set>

#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/parallel.h"
#include "doctor/python/source.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 2500, kLongestFile = 1u << 20;
constexpr std::chrono::milliseconds kLongest{300};

// The import name of a project where it is not the project's own.
std::string package_name(const Distribution& d) {
  const std::pair<std::string_view, std::string_view> known[] = {{"scikit-learn", "sklearn"},
                                                                 {"tensorflow-cpu", "tensorflow"},
                                                                 {"tensorflow-macos", "tensorflow"},
                                                                 {"pillow", "PIL"},
                                                                 {"pyyaml", "yaml"},
                                                                 {"opencv-python", "cv2"},
                                                                 {"opencv-python-headless", "cv2"},
                                                                 {"ipython", "IPython"},
                                                                 {"pyzmq", "zmq"},
                                                                 {"scikit-image", "skimage"},
                                                                 {"setuptools", ""},
                                                                 {"pip", ""}};
  for (const auto& [project, name] : known) {
    if (d.normal == project) return std::string(name);
  }
  std::string name = d.normal;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The project that brings a module back, or the module's own name.
std::string project_with(std::string_view module) {
  const std::pair<std::string_view, std::string_view> known[] = {{"pkg_resources", "setuptools<81"},
                                                                 {"distutils", "setuptools<81"},
                                                                 {"setuptools", "setuptools"},
                                                                 {"imp", "zombie-imp"},
                                                                 {"cgi", "legacy-cgi"},
                                                                 {"cgitb", "legacy-cgi"},
                                                                 {"yaml", "PyYAML"},
                                                                 {"PIL", "pillow"},
                                                                 {"cv2", "opencv-python-headless"},
                                                                 {"sklearn", "scikit-learn"},
                                                                 {"skimage", "scikit-image"},
                                                                 {"google", "protobuf"},
                                                                 {"dateutil", "python-dateutil"},
                                                                 {"attr", "attrs"},
                                                                 {"bs4", "beautifulsoup4"},
                                                                 {"zmq", "pyzmq"},
                                                                 {"IPython", "ipython"},
                                                                 {"audioop", "audioop-lts"}};
  for (const auto& [name, project] : known) {
    if (name == module) return std::string(project);
  }
  for (const std::string_view dropped :
       {"aifc", "asynchat", "asyncore", "chunk", "crypt", "imghdr", "mailcap", "nntplib", "pipes", "smtpd",
        "sndhdr", "sunau", "telnetlib", "uu", "xdrlib"}) {
    if (dropped == module) return concat("standard-", module);
  }
  return std::string(module);
}

bool has_unmet_requirement(const Environment& e, const Distribution& d) {
  return std::any_of(d.requires_dist.begin(), d.requires_dist.end(), [&](const Requirement& r) {
    const bool applies = r.marker.empty() || marker_holds(r.marker, e.markers).value_or(false);
    return applies && !e.find(normal_name(r.name));
  });
}

// Follows imports from package to package, in waves: all files of a wave are read at once.
class Follower {
 public:
  explicit Follower(const Environment& e) : environment_(e) {}

  void start(const std::string& package) { visit_package(package); }

  void run(std::chrono::steady_clock::time_point deadline) {
    for (size_t done = 0; done < files_.size() && done < kMostFiles;) {
      const size_t end = std::min(files_.size(), kMostFiles);
      std::vector<std::vector<ImportStatement>> imports(end - done);
      parallel_for(imports.size(), [&](size_t i) {
        if (std::chrono::steady_clock::now() > deadline) return;
        imports[i] = unconditional_imports(read_text(files_[done + i].path, kLongestFile).value_or(""));
      });
      for (size_t i = 0; i < imports.size(); ++i) {
        const File file = files_[done + i];
        for (const ImportStatement& s : imports[i]) follow(file, s);
      }
      done = end;
    }
  }

  struct Missing {
    std::string package, module;  // who imports what
    fs::path by;
  };
  const std::vector<Missing>& missing() const { return missing_; }

 private:
  struct File {
    std::string package;
    fs::path root, path;  // the package's folder, and the file
  };

  void visit(const File& file) {
    if (seen_.insert(file.path.string()).second) files_.push_back(file);
  }

  void visit_package(const std::string& name) {
    const Origin origin = environment_.path.find(name);
    const bool source = origin.kind == Origin::Kind::package && origin.file.extension() == ".py";
    if (source && origin.entry->from != PathEntry::From::standard &&
        origin.entry->from != PathEntry::From::folder)
      visit({name, origin.file.parent_path(), origin.file});
  }

  // A module below `folder`.
  void visit_module(const File& by, const fs::path& folder, std::string_view dotted) {
    fs::path path = folder;
    for (const std::string_view part : split(dotted, ".")) {
      path /= part;
      if (const fs::path init = path / "__init__.py"; is_there(init)) visit({by.package, by.root, init});
    }
    path += ".py";
    if (is_there(path)) visit({by.package, by.root, path});
  }

  void follow(const File& by, const ImportStatement& s) {
    const std::string top(split(s.module, ".")[0]);
    if (s.level == 0 && top != by.package) {
      if (top.empty() || !missing_seen_.insert(by.package + " " + top).second) return;
      if (is_there_somewhere(top, s.module))
        visit_package(top);
      else
        missing_.push_back({by.package, top, by.path});
      return;
    }
    fs::path folder = s.level > 0 ? by.path.parent_path() : by.root;
    for (size_t i = 1; i < s.level; ++i) folder = folder.parent_path();
    const std::string inner =
        s.level > 0 ? s.module : s.module.substr(std::min(s.module.size(), top.size() + 1));
    if (!inner.empty()) {
      visit_module(by, folder, inner);
    } else {
      for (const std::string& name : s.names) visit_module(by, folder, name);
    }
  }

  bool is_there_somewhere(const std::string& top, std::string_view module) const {
    if (is_built_in_module(top)) return true;
    // setuptools brings it for Pythons that have dropped it.
    if (top == "distutils" && !environment_.locate("setuptools/_distutils").empty()) return true;
    const Origin origin = environment_.path.find(top);
    if (origin.kind != Origin::Kind::name_space) return static_cast<bool>(origin);
    // Of a name space the part that is meant must be there.
    const std::vector<std::string_view> parts = split(module, ".");
    return parts.size() < 2 || !environment_.locate(fs::path(top) / parts[1]).empty() ||
           !environment_.locate(fs::path(top) / (std::string(parts[1]) + ".py")).empty();
  }

  const Environment& environment_;
  std::vector<File> files_;
  std::set<std::string> seen_, missing_seen_;
  std::vector<Missing> missing_;
};

// What people import themselves: frameworks, and what no other project brings along.
std::vector<const Distribution*> starting_points(const Environment& e) {
  std::set<std::string> required;
  for (const Distribution& d : e.distributions) {
    for (const Requirement& r : d.requires_dist) required.insert(normal_name(r.name));
  }
  std::vector<const Distribution*> all;
  for (const Distribution& d : e.distributions) {
    const bool framework =
        d.normal == "numpy" || d.normal == "keras" || d.normal == "jax" || d.normal == "torch";
    if (e.find(d.normal) == &d && (framework || !required.contains(d.normal))) all.push_back(&d);
  }
  return all;
}

const Distribution* owner_of(const Environment& e, const std::string& package) {
  for (const Distribution& d : e.distributions) {
    if (package_name(d) == package && e.find(d.normal) == &d) return &d;
  }
  return nullptr;
}

}  // namespace

void find_needed_modules(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  if (!is_there(e.standard_library / "os.py"))
    return;  // of another machine: what its Python has cannot be seen
  Follower follower(e);
  for (const Distribution* d : starting_points(e)) {
    if (const std::string name = package_name(*d); !name.empty()) follower.start(name);
  }
  follower.run(std::chrono::steady_clock::now() + kLongest);
  for (const auto& [package, module, by] : follower.missing()) {
    const Distribution* d = owner_of(e, package);
    if (!d || has_unmet_requirement(e, *d)) continue;
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(d->shown(), " imports ", module, ", which is not there and not among its requirements"),
         {"imported by " + by.string()},
         concat("ModuleNotFoundError: No module named '", module, "' at import ", package),
         "",
         {{project_with(module), "", false}}});
  }
}

}  // namespace plimsoll::doctor
