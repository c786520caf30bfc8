// Imports that cannot work though everything is installed as its metadata asks: modules that nobody brings
// (pkg_resources, which new setuptools lack, or what Python itself has dropped), names that another version
// of a package had, import hooks that this Python no longer asks.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "doctor/abandoned.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/import_follower.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongest{350};

// Modules that Python or setuptools once had: who imports them was sure of them.
bool is_dropped(std::string_view module) {
  for (const std::string_view dropped :
       {"pkg_resources", "distutils", "imp",    "cgi",   "cgitb",     "audioop", "aifc",
        "asynchat",      "asyncore",  "chunk",  "crypt", "imghdr",    "mailcap", "nntplib",
        "pipes",         "smtpd",     "sndhdr", "sunau", "telnetlib", "uu",      "xdrlib"}) {
    if (dropped == module) return true;
  }
  return false;
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

bool requires_project(const Distribution& d, std::string_view name) {
  return std::any_of(d.requires_dist.begin(), d.requires_dist.end(), [&](const Requirement& r) {
    return normal_name(r.name) == name && r.marker.find("extra") == std::string::npos;
  });
}

// The packages and modules at the top of a project by which people import it: the one with the project's
// name, or the only one.
std::vector<std::string> packages_of(const Distribution& d) {
  if (d.normal == "setuptools" || d.normal == "pip" || d.normal == "wheel") return {};
  std::vector<std::string> all;
  for (const RecordRow& row : d.record) {
    const size_t slash = row.path.find('/');
    const bool module = slash == std::string::npos && row.path.ends_with(".py");
    const bool package =
        slash != std::string::npos && std::string_view(row.path).substr(slash) == "/__init__.py";
    if (!module && !package) continue;
    const std::string name = row.path.substr(0, module ? row.path.size() - 3 : slash);
    if (normal_name(name) == d.normal) return {name};
    if (!name.starts_with('_')) all.push_back(name);
  }
  return all.size() == 1 ? all : std::vector<std::string>();
}

// What people import themselves first: frameworks, and what no other project brings along; then the others.
// With whether it is of the first kind.
std::vector<std::pair<const Distribution*, bool>> starting_points(const Environment& e) {
  std::set<std::string> required;
  for (const Distribution& d : e.distributions) {
    for (const Requirement& r : d.requires_dist) required.insert(normal_name(r.name));
  }
  std::vector<std::pair<const Distribution*, bool>> all, others;
  for (const Distribution& d : e.distributions) {
    if (e.find(d.normal) != &d) continue;
    const bool framework =
        d.normal == "numpy" || d.normal == "keras" || d.normal == "jax" || d.normal == "torch";
    const bool root = framework || !required.contains(d.normal);
    (root ? all : others).emplace_back(&d, root);
  }
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

const Distribution* owner_of(const Environment& e, const fs::path& file) {
  for (const Distribution& d : e.distributions) {
    const std::string inner = file.lexically_relative(d.site).string();
    if (inner.empty() || inner.starts_with("..")) continue;
    if (std::any_of(d.record.begin(), d.record.end(), [&](const RecordRow& r) { return r.path == inner; }))
      return &d;
  }
  return nullptr;
}

Finding missing_module(const BrokenImport& b, const Distribution& d) {
  Finding f;
  f.severity = Severity::error;
  f.what = concat(d.shown(), " imports ", b.module, ", which is not there and not among its requirements");
  f.evidence = {"imported by " + b.by.string()};
  f.leads_to = concat("ModuleNotFoundError: No module named '", b.module, "' at import ", b.package);
  f.installs = {{project_with(b.module), "", false}};
  return f;
}

// Who imports is older than what it imports from, as a rule: a newer one knows the other's new names. Where
// it is known since when a name is gone, the version before that is the answer.
Finding missing_name(const Exam& exam, const BrokenImport& b, const Distribution& d,
                     const Distribution* from) {
  Finding f;
  f.severity = b.on_demand ? Severity::warning : Severity::error;
  f.sureness = Sureness::likely;
  const std::string other =
      from ? from->shown() : concat("Python ", exam.environment.major, ".", exam.environment.minor);
  const std::string what = b.name.empty() ? b.module : concat(b.module, ".", b.name);
  f.what = concat(d.shown(), " does not fit ", other, ": it uses ", what, ", which that does not have");
  f.evidence = {"used in " + b.by.string()};
  f.leads_to = concat("ImportError or AttributeError: no ", b.name.empty() ? b.module : b.name, " in ",
                      b.module, ", at import ", b.package);
  if (is_abandoned(d)) {
    f.removes = {d.name};
  } else if (b.module == "numpy" && from && from->version) {
    const bool old_name = from->version->major() < 2 || b.name == "float" || b.name == "int" ||
                          b.name == "object" || b.name == "complex" || b.name == "str";
    f.installs = {{old_name ? "numpy<1.24" : "numpy<2", d.normal, false}};
  } else {
    f.installs = {{concat(d.name, ">", d.version_text), "", false}};
  }
  return f;
}

Finding old_finder(const Exam& exam, const BrokenImport& b, const Distribution& d) {
  Finding f;
  f.severity = Severity::error;
  f.what = concat(d.shown(), " is too old for Python ", exam.environment.major, ".", exam.environment.minor,
                  ": Python no longer asks its import hook (find_module)");
  f.evidence = {b.by.string()};
  f.leads_to = d.normal == "six" ? "ModuleNotFoundError: No module named 'six.moves'"
                                 : "ModuleNotFoundError for the modules that the hook brings";
  f.installs = {{d.normal == "six" ? "six>=1.16" : concat(d.name, ">", d.version_text), "", false}};
  return f;
}

}  // namespace

void find_needed_modules(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  if (!is_there(e.standard_library / "os.py"))
    return;  // of another machine: what its Python has cannot be seen
  ImportFollower follower(e);
  std::set<std::string> roots;
  const Patience patience(kLongest);
  for (const auto& [d, root] : starting_points(e)) {
    for (const std::string& name : packages_of(*d)) {
      follower.start(name);
      if (root) roots.insert(name);
    }
  }
  follower.run(patience);
  for (const std::string& name : roots) follower.start_parts(name);
  follower.run(patience);
  std::set<std::pair<const Distribution*, const Distribution*>> said;  // one name tells of a pair
  for (const BrokenImport& b : follower.broken()) {
    const Distribution* d = owner_of(e, b.by);
    if (!d || has_unmet_requirement(e, *d)) continue;
    const bool top = b.kind == BrokenImport::Kind::module && !contains(b.module, ".");
    if (b.kind == BrokenImport::Kind::old_finder && !b.on_demand) {
      findings.push_back(old_finder(exam, b, *d));
    } else if (top || b.kind == BrokenImport::Kind::old_finder) {
      // What only another project brings along may be there for the case that the module is; and a part that
      // is imported on demand may be for few, unless its project asks for setuptools for the sake of it.
      const bool always = !b.on_demand && (roots.contains(b.package) || is_dropped(b.module));
      const bool of_setuptools = is_dropped(b.module) && project_with(b.module).starts_with("setuptools") &&
                                 requires_project(*d, "setuptools");
      const bool of_family = project_with(b.module).starts_with("setuptools");
      const bool direct = b.by.parent_path().filename() == b.package;
      if (top && (of_setuptools || (always && (!of_family || direct))))
        findings.push_back(missing_module(b, *d));
    } else {
      const Origin origin = e.path.find(b.module.substr(0, b.module.find('.')));
      const Distribution* from = origin ? owner_of(e, origin.file) : nullptr;
      if (from == d || !said.emplace(d, from).second) continue;
      findings.push_back(missing_name(exam, b, *d, from));
    }
  }
}

}  // namespace plimsoll::doctor
