// Imports that cannot work though everything is installed as its metadata asks: modules that nobody brings
// (pkg_resources, which new setuptools lack, or what Python itself has dropped), names that another version
// of a package had, import hooks that this Python no longer asks.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "doctor/abandoned.h"
#include "doctor/commands.h"
#include "doctor/debian.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/module_project.h"
#include "doctor/python/import_follower.h"
#include "doctor/python/text.h"
#include "doctor/removed_names.h"
#include "doctor/standard_parts.h"
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

// Modules of Python 2's library: no project brings them.
bool is_of_python_2(std::string_view module) {
  for (const std::string_view old :
       {"exceptions",     "ConfigParser", "Queue",        "urllib2",     "urlparse",    "httplib",
        "cookielib",      "StringIO",     "cStringIO",    "cPickle",     "__builtin__", "commands",
        "thread",         "HTMLParser",   "SocketServer", "copy_reg",    "Tkinter",     "tkMessageBox",
        "BaseHTTPServer", "sets",         "md5",          "dummy_thread"}) {
    if (old == module) return true;
  }
  return false;
}

// A newer version of `d`, where there is one.
std::vector<Finding::Install> upgrade(const Distribution& d) {
  return {{concat(d.name, ">", d.version_text), "", false}};
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

// Whether a program of the project begins with this part: tensorboard.main.
bool starts_program(const Distribution& d, std::string_view part) {
  const std::string text = read_text(d.folder / "entry_points.txt", 1u << 16).value_or("");
  for (const std::string_view line : split(text, "\n")) {
    const size_t equals = line.find('=');
    if (equals != std::string_view::npos && trim(line.substr(equals + 1)).starts_with(concat(part, ":")))
      return true;
  }
  return false;
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
    for (const Requirement& r : d.requires_dist) {
      if (!contains(r.marker, "extra")) required.insert(normal_name(r.name));
    }
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

Finding missing_module(const Exam& exam, const BrokenImport& b, const Distribution& d) {
  Finding f;
  f.severity = Severity::error;
  f.what = concat(d.shown(), " imports ", b.module, ", which is not there and not among its requirements");
  f.evidence = {"imported by " + b.by.string()};
  f.leads_to = concat("ModuleNotFoundError: No module named '", b.module, "' at import ", b.package);
  if (is_of_python_2(b.module)) {
    f.what = concat(d.shown(), " is written for Python 2: it imports ", b.module);
    f.installs = upgrade(d);
  } else {
    f.installs = {{project_with(b.module), "", false}};
  }
  if (b.module == "distutils" && exam.system.variable("SETUPTOOLS_USE_DISTUTILS") == "stdlib") {
    f.what = concat(d.shown(),
                    " imports distutils, which this Python does not have, and setuptools is told not "
                    "to give it: SETUPTOOLS_USE_DISTUTILS=stdlib");
    f.installs.clear();
    f.fix = unset_command(exam, "SETUPTOOLS_USE_DISTUTILS");
    return f;
  }
  // Keras 2 belongs to the TensorFlow of the same number, and does not ask for it.
  const bool keras_2 =
      d.normal == "keras" && d.version && d.version->major() == 2 && b.module == "tensorflow";
  if (keras_2) f.installs = {{concat("tensorflow==2.", d.version->minor(), ".*"), "", false}};
  do_without(d, f);
  return f;
}

// "2.1.0" of "2.1.0+cpu", which no index has.
std::string public_version(const Distribution& d) {
  return d.version_text.substr(0, d.version_text.find('+'));
}

// The NumPy that still had a name, where this Python has one: 1.23 ended with Python 3.11, 1.26 with 3.12.
// Whoever uses names that were dropped years ago has no newer version, as a rule. Else empty.
std::string old_numpy_with(const Exam& exam, const BrokenImport& b, const Distribution* from) {
  if (b.module != "numpy" || !from || !from->version) return "";
  const bool old_name = from->version->major() < 2 || b.name == "float" || b.name == "int" ||
                        b.name == "object" || b.name == "complex" || b.name == "str";
  if (exam.environment.minor > (old_name ? 11u : 12u)) return "";
  return old_name ? "numpy<1.24" : "numpy<2";
}

// The package itself, or a part right below it that is not for few.
bool is_often_imported(std::string_view part) {
  if (part.empty()) return true;
  if (std::count(part.begin(), part.end(), '.') != 1) return false;
  for (const std::string_view rare :
       {"experimental", "contrib", "legacy",   "compat",     "testing", "benchmarks", "scripts",
        "cli",          "tools",   "examples", "sphinxext",  "ext",     "plugins",    "integrations",
        "setup",        "conf",    "commands", "deprecated", "debug",   "vendor"}) {
    if (part.substr(part.find('.') + 1) == rare) return false;
  }
  return true;
}

// Who imports is older than what it imports from, as a rule: a newer one knows the other's new names. Where
// it is known since when a name is gone, the version before that is the answer.
Finding missing_name(const Exam& exam, const BrokenImport& b, const Distribution& d,
                     const Distribution* from) {
  Finding f;
  const bool error = b.part.empty() || (b.sure && is_often_imported(b.part));
  f.severity = error ? Severity::error : Severity::warning;
  f.sureness = Sureness::likely;
  const std::string other =
      from ? from->shown() : concat("Python ", exam.environment.major, ".", exam.environment.minor);
  const std::string what = b.name.empty() ? b.module : concat(b.module, ".", b.name);
  f.what = concat(d.shown(), " does not fit ", other, ": it uses ", what, ", which that does not have");
  f.evidence = {"used in " + b.by.string()};
  f.leads_to = concat("ImportError or AttributeError: no ", b.name.empty() ? b.module : b.name, " in ",
                      b.module, ", at import ", b.part.empty() ? b.package : b.part);
  if (do_without(d, f)) return f;
  const RemovedName removed = removed_name(what, exam.environment.minor);
  const std::string old = removed.requirement.empty() ? old_numpy_with(exam, b, from) : removed.requirement;
  if (!old.empty() && removed.installable) {
    f.installs = {{old, "", false}};
    return f;
  }
  if (!removed.installable)
    f.evidence.push_back(concat("only ", old, " has it, which was not made for Python ",
                                exam.environment.major, ".", exam.environment.minor));
  f.evidence.push_back(concat("if there is no newer ", d.name, ", do without it"));
  f.installs = upgrade(d);
  // The other one stays as it is, but for repairs: a newer one may bring the next fault.
  if (from && from->version && !from->editable)
    f.installs.push_back(
        {concat(from->name, ">=", public_version(*from), ",<", from->version->major() + 1), "", false});
  return f;
}

// A part of Python's own library that a package always imports, and that Python was built without.
Finding missing_part(const Exam& exam, const BrokenImport& b, const Distribution& d) {
  Finding f;
  f.severity = Severity::error;
  f.what = concat(d.shown(), " imports ", b.module, ", and this Python was built without ", b.python_part);
  f.evidence = {"imported by " + b.by.string(),
                (exam.environment.standard_library / "lib-dynload").string() + " does not have it"};
  f.leads_to = concat("ModuleNotFoundError: No module named '", b.python_part, "' at import ", b.package);
  for (const StandardPart& part : standard_parts()) {
    if (b.python_part == part.name) f.fix = standard_part_fix(part);
  }
  return f;
}

Finding not_compiled(const Exam& exam, const BrokenImport& b, const Distribution& d) {
  Finding f;
  f.severity = !b.part.empty() ? Severity::warning : Severity::error;
  f.sureness = Sureness::likely;
  f.what = concat(d.shown(), " has a file that Python ", exam.environment.major, ".", exam.environment.minor,
                  " cannot compile: ", b.name);
  f.evidence = {b.by.string()};
  f.leads_to = concat("SyntaxError at import ", b.package);
  f.installs = contains(b.name, "Python 2") ? upgrade(d) : reinstall(d);
  if (contains(b.name, "Python 2")) do_without(d, f);
  return f;
}

Finding mutable_default(const Exam& exam, const BrokenImport& b, const Distribution& d) {
  Finding f;
  f.severity = b.part.empty() ? Severity::error : Severity::warning;
  f.sureness = Sureness::likely;
  f.what = concat(d.shown(), " is too old for Python ", exam.environment.major, ".", exam.environment.minor,
                  ": a dataclass of it has a default that can change (", b.name, ")");
  f.evidence = {b.by.string()};
  f.leads_to = concat("ValueError: mutable default ... is not allowed: use default_factory, at import ",
                      b.part.empty() ? b.package : b.part);
  f.installs = upgrade(d);
  do_without(d, f);
  return f;
}

// Packages that lie in a site folder and belong to no project: left by an installation that did not finish,
// or copied there by hand.
std::vector<std::string> packages_without_project(const Environment& e) {
  std::vector<std::string> names;
  for (const fs::path& site : e.sites) {
    if (is_debians(site)) continue;  // dpkg puts whole packages there, and needs no metadata for it
    for (const fs::path& folder : list_folder(site)) {
      const std::string name = folder.filename().string();
      if (name.starts_with('_') || contains(name, ".") || contains(name, "-")) continue;
      if (e.find(normal_name(name)) || e.find(normal_name(project_with(name)))) continue;
      const fs::path init = folder / "__init__.py";
      if (is_there(init) && !owner_of(e, init)) names.push_back(name);
    }
  }
  return names;
}

Finding half_installed(const Environment& e, const BrokenImport& b) {
  Finding f;
  f.severity = Severity::error;
  f.sureness = Sureness::likely;
  f.what = concat(b.package, " lies there without metadata and has lost parts of itself: an installation of ",
                  project_with(b.package), " was interrupted");
  f.evidence = {concat("no ", b.module, ", which ", b.by.string(), " imports")};
  f.leads_to = concat("ModuleNotFoundError: No module named '", b.module, "' at import ", b.package);
  f.fix = "rm -r " + shell_word(e.locate(b.package));
  f.installs = {{project_with(b.package), "", false}};
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
  ImportFollower follower(e, lost_standard_parts(exam));
  std::set<std::string> roots;
  const Patience patience(kLongest);
  for (const auto& [d, root] : starting_points(e)) {
    for (const std::string& name : packages_of(*d)) {
      follower.start(name);
      if (root) roots.insert(name);
    }
  }
  const std::vector<std::string> alone = packages_without_project(e);
  for (const std::string& name : alone) {
    follower.watch(name);
    follower.start(name);
  }
  follower.run(patience);
  for (const bool inner : {false, true}) {
    for (const std::string& name : roots) follower.start_parts(name, inner);
    follower.run(patience);
  }
  std::set<std::pair<const Distribution*, const Distribution*>> said;  // one name tells of a pair
  std::set<std::string> halves;
  for (const BrokenImport& b : follower.broken()) {
    const Distribution* d = owner_of(e, b.by);
    if (!d && b.module.starts_with(b.package + ".") && halves.insert(b.package).second)
      findings.push_back(half_installed(e, b));
    if (!d || has_unmet_requirement(e, *d)) continue;
    const bool top = b.kind == BrokenImport::Kind::module && !contains(b.module, ".");
    if (b.kind == BrokenImport::Kind::syntax) {
      findings.push_back(not_compiled(exam, b, *d));
    } else if (b.kind == BrokenImport::Kind::mutable_default) {
      findings.push_back(mutable_default(exam, b, *d));
    } else if (!b.python_part.empty()) {
      if (b.part.empty()) findings.push_back(missing_part(exam, b, *d));
    } else if (b.kind == BrokenImport::Kind::old_finder && b.part.empty()) {
      findings.push_back(old_finder(exam, b, *d));
    } else if (top || b.kind == BrokenImport::Kind::old_finder) {
      // What only another project brings along may be there for the case that the module is; and a part that
      // is imported on demand may be for few, unless its project asks for setuptools for the sake of it.
      const bool needed = roots.contains(b.package) || is_dropped(b.module) || b.insisted;
      const bool always = needed && b.part.empty();
      // Of Python's own library, by a part that people import or a program that they start.
      const bool of_python = is_dropped(b.module) && !project_with(b.module).starts_with("setuptools");
      const bool program = of_python && starts_program(*d, b.part);
      const bool of_setuptools =
          project_with(b.module).starts_with("setuptools") && requires_project(*d, "setuptools");
      if (top && (always || of_setuptools || program || (of_python && is_often_imported(b.part)))) {
        findings.push_back(missing_module(exam, b, *d));
        if (!always && !of_setuptools && !program) findings.back().severity = Severity::warning;
      }
    } else {
      const Origin origin = e.path.find(b.module.substr(0, b.module.find('.')));
      const Distribution* from = origin ? owner_of(e, origin.file) : nullptr;
      if (from == d || !said.emplace(d, from).second) continue;
      findings.push_back(missing_name(exam, b, *d, from));
    }
  }
}

}  // namespace plimsoll::doctor
