// Shared libraries that are needed but lie nowhere the loader looks.
#include <algorithm>
#include <map>
#include <set>

#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/loader_path.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// Part of a graphics driver, absent by right on a machine without one.
bool from_driver(std::string_view name) {
  for (const std::string_view driver : {"libcuda.so", "libnvidia-", "libnvcuvid", "libnvoptix", "libamdhip",
                                        "libhsa-", "libze_loader", "libcudadebugger"}) {
    if (name.starts_with(driver)) return true;
  }
  return false;
}

// FFmpeg, which PyTorch's libraries for sound and pictures try to load, and do without.
bool is_tried_only(const Library& by, std::string_view name) {
  const bool tries = by.owner && (by.owner->normal == "torchaudio" || by.owner->normal == "torchvision");
  return tries && (name.starts_with("libav") || name.starts_with("libsw") ||
                   name.starts_with("libpostproc") || name.starts_with("libsox"));
}

// Built for Alpine Linux; other_python speaks of it where the wheel says so.
bool is_of_musl(std::string_view name) {
  return name.starts_with("libc.musl") || name.starts_with("ld-musl");
}

bool says_musl(const Distribution* d) {
  return d && std::any_of(d->tags.begin(), d->tags.end(),
                          [](const WheelTag& tag) { return contains(tag.platform, "musl"); });
}

// The system package that brings a library, where programs for learning often lack it.
std::string package_of(std::string_view name) {
  const std::pair<std::string_view, std::string_view> known[] = {
      {"libGL.so.1", "libgl1"},           {"libglib-2.0.so.0", "libglib2.0-0"},
      {"libgomp.so.1", "libgomp1"},       {"libSM.so.6", "libsm6"},
      {"libXext.so.6", "libxext6"},       {"libXrender.so.1", "libxrender1"},
      {"libstdc++.so.6", "libstdc++6"},   {"libffi.so.8", "libffi8"},
      {"libsndfile.so.1", "libsndfile1"}, {"libopenblas.so.0", "libopenblas0"},
      {"libtk8.6.so", "tk8.6"},           {"libtcl8.6.so", "tcl8.6"}};
  for (const auto& [library, package] : known) {
    if (library == name) return std::string(package);
  }
  return "";
}

// The project whose wheel brings a library that others expect to be loaded already.
std::string project_of(std::string_view name) {
  const std::pair<std::string_view, std::string_view> known[] = {
      {"libtorch", "torch"},
      {"libc10", "torch"},
      {"libtensorflow_", "tensorflow"},
      {"libmkl_", "mkl"},
      {"libiomp5.so", "intel-openmp"},
      {"libtbb.so.12", "tbb"},
      {"libarrow", "pyarrow"},
      {"libcudart.so.12", "nvidia-cuda-runtime-cu12"},
      {"libcudart.so.11", "nvidia-cuda-runtime-cu11"},
      {"libcublas.so.12", "nvidia-cublas-cu12"},
      {"libcublasLt.so.12", "nvidia-cublas-cu12"},
      {"libcublas.so.11", "nvidia-cublas-cu11"},
      {"libcublasLt.so.11", "nvidia-cublas-cu11"},
      {"libcudnn.so.9", "nvidia-cudnn-cu12>=9"},
      {"libcudnn.so.8", "nvidia-cudnn-cu12<9"},
      {"libcufft.so.11", "nvidia-cufft-cu12"},
      {"libcurand.so.10", "nvidia-curand-cu12"},
      {"libcusolver.so.11", "nvidia-cusolver-cu12"},
      {"libcusparse.so.12", "nvidia-cusparse-cu12"},
      {"libcusparseLt.so.0", "nvidia-cusparselt-cu12"},
      {"libnccl.so.2", "nvidia-nccl-cu12"},
      {"libnvJitLink.so.12", "nvidia-nvjitlink-cu12"},
      {"libcupti.so.12", "nvidia-cuda-cupti-cu12"},
      {"libnvrtc.so.12", "nvidia-cuda-nvrtc-cu12"}};
  for (const auto& [library, project] : known) {
    if (name.starts_with(library)) return std::string(project);
  }
  return "";
}

// libgfortran-040039e1.so.5: the name a wheel gave its own copy, which no system has.
bool has_wheel_hash(std::string_view name) {
  const size_t end = std::min(name.find(".so"), name.find(".dylib"));
  if (end == std::string_view::npos) return false;
  const std::string_view stem = name.substr(0, end);
  const size_t dash = stem.rfind('-');
  if (dash == std::string_view::npos || stem.size() - dash - 1 < 8) return false;
  return stem.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
}

// Each packager finds a library in its own way.
std::string system_command(const Exam& exam, const std::string& name) {
  const std::string& os = exam.system.distribution;
  const std::string package = package_of(name);
  const bool debian = os == "debian" || os == "ubuntu" || os.empty();
  if (exam.environment.is_macos)
    return name == "libomp.dylib" ? "brew install libomp" : "Install what holds " + name + ".";
  if (debian && !package.empty()) return "apt-get install -y " + package;
  if (os == "fedora" || os == "rhel" || os == "centos" || os == "rocky" || os == "almalinux" || os == "amzn")
    return concat("dnf install -y '", name, "()(64bit)'");
  if (os == "alpine") return concat("apk add so:", name);
  if (os == "arch") return concat("pacman -F ", name, "   # then pacman -S the package it names");
  return concat("Install the system package that holds ", name,
                debian ? concat(" (apt-file search ", name, ")") : "", ".");
}

// Modules of the standard library that systems often leave without their libraries.
bool optional_module(std::string_view shown) {
  for (const std::string_view name : {"_tkinter", "_dbm", "_gdbm", "readline", "_curses", "nis"}) {
    if (shown.starts_with(name)) return true;
  }
  return false;
}

// A library that is no module, and whose name stands in the Python files of its package: ctypes loads it.
bool is_loaded_by_name(const Library& library) {
  constexpr size_t kMostRead = 100;
  if (!library.owner || library.module || library.reachable) return false;
  const std::string name = library.path.filename().string();
  std::string stem = name.substr(0, name.find(".so"));
  if (stem.starts_with("lib") && stem.size() > 6) stem = stem.substr(3);
  if (has_wheel_hash(name)) return false;
  size_t read = 0;
  for (const RecordRow& row : library.owner->record) {
    if (!row.path.ends_with(".py") || contains(row.path, "/tests/")) continue;
    if (++read > kMostRead) return false;
    const std::string text = read_text(library.owner->site / row.path, 1u << 20).value_or("");
    const bool loads = contains(text, "ctypes") || contains(text, "cffi") || contains(text, "dlopen") ||
                       contains(text, ".so");
    if (loads && contains(text, stem)) return true;
  }
  return false;
}

struct Missing {
  std::vector<std::string> needed_by;
  const Library* example = nullptr;
  bool optional = true;
  std::set<const Library*> modules;  // that cannot be imported for want of it
};

using ModuleCounts = std::map<const Distribution*, size_t>;

// Whether the package brought the library along: then it was lost, else the system should have it.
bool was_bundled(const Distribution* owner, const std::string& name) {
  if (!owner) return false;
  return std::any_of(owner->record.begin(), owner->record.end(),
                     [&](const RecordRow& row) { return row.path.ends_with("/" + name); });
}

// Large packages have parts for uses of their own (sound, cameras): most of their modules do without.
bool is_small_part(const Missing& missing, const ModuleCounts& counts) {
  ModuleCounts lost;
  for (const Library* module : missing.modules) ++lost[module->owner];
  return std::all_of(lost.begin(), lost.end(), [&](const auto& entry) {
    const auto& [owner, n] = entry;
    return owner && n * 5 < counts.at(owner);
  });
}

Finding describe(const Exam& exam, const std::string& name, const Missing& missing,
                 const ModuleCounts& counts) {
  const Distribution* owner = missing.example->owner;
  const bool bundled = was_bundled(owner, name);
  Finding f;
  f.severity =
      missing.optional || (!bundled && is_small_part(missing, counts)) ? Severity::note : Severity::error;
  f.what = concat(name, " is missing");
  f.evidence = {"needed by " + some_of(missing.needed_by)};
  std::vector<std::string> modules;
  for (const Library* module : missing.modules) modules.push_back(module->shown);
  std::sort(modules.begin(), modules.end());
  if (!modules.empty()) f.evidence.push_back("cannot be imported: " + some_of(modules));
  if (is_of_musl(name))
    f.what = concat(owner ? owner->shown() : missing.example->shown, " was built for Alpine Linux (musl)");
  f.leads_to = concat("ImportError: ", name, ": cannot open shared object file: No such file or directory");
  const std::string project = project_of(name);
  if (owner && (bundled || has_wheel_hash(name) || is_of_musl(name))) {
    f.installs = reinstall(*owner);
  } else if (!project.empty()) {
    f.installs = {{project, "", false}};
  } else if (exam.environment.is_macos && owner && !name.starts_with("/")) {
    f.installs = reinstall(*owner);
  } else {
    f.fix = system_command(exam, name);
  }
  return f;
}

// Plug-ins for networks, drivers and devices that no module needs: one note for all of them.
void note_unused(const std::map<std::string, Missing>& missing, Findings& findings) {
  if (missing.empty()) return;
  std::vector<std::string> names;
  for (const auto& [name, m] : missing) names.push_back(concat(name, " (", some_of(m.needed_by, 1), ")"));
  Finding f;
  f.sureness = Sureness::possible;
  f.what = concat(names.size(), " libraries are missing that only optional plug-ins or drivers need");
  f.evidence = {some_of(names, 6)};
  f.leads_to = "Nothing, unless you use what they are for: no module that Python imports needs them.";
  findings.push_back(f);
}

// Libraries of the system that Python code opens by name when it is imported (ctypes, cffi): no file of the
// project tells of them.
struct OpenedByName {
  std::string_view project, name, package;
  std::vector<std::string_view> instead;  // projects, or modules of the project, that bring a copy
};

void opened_by_name(const Exam& exam, Findings& findings) {
  if (!exam.libraries.system_known() || exam.environment.is_macos) return;
  const OpenedByName known[] = {{"sounddevice", "libportaudio.so.2", "libportaudio2", {}},
                                {"cairocffi", "libcairo.so.2", "libcairo2", {}},
                                {"psycopg", "libpq.so.5", "libpq5", {"psycopg-binary", "psycopg-c"}},
                                {"python-magic", "libmagic.so.1", "libmagic1", {}},
                                {"pyzbar", "libzbar.so.0", "libzbar0", {}},
                                {"weasyprint", "libpango-1.0.so.0", "libpango-1.0-0", {}},
                                {"soundfile", "libsndfile.so.1", "libsndfile1", {"_soundfile_data"}},
                                {"pyenchant", "libenchant-2.so.2", "libenchant-2-2", {}}};
  const LoaderPath loader(exam.environment, exam.system, nullptr);
  for (const OpenedByName& one : known) {
    const Distribution* d = exam.environment.find(std::string(one.project));
    if (!d) continue;
    const bool brought = std::any_of(one.instead.begin(), one.instead.end(), [&](std::string_view other) {
      return exam.environment.find(std::string(other)) || !exam.environment.locate(other).empty();
    });
    const std::vector<std::filesystem::path> places = loader.candidates(one.name);
    // conda's libraries lie in the environment itself.
    if (brought || is_there(exam.environment.prefix / "lib" / one.name) || exam.libraries.named(one.name) ||
        std::any_of(places.begin(), places.end(), is_there))
      continue;
    const std::string& os = exam.system.distribution;
    const bool debian = os == "debian" || os == "ubuntu" || os.empty();
    Finding f;
    f.severity = Severity::error;
    f.sureness = Sureness::likely;
    f.what =
        concat(d->shown(), " opens ", one.name, " when it is imported, and this system has no such library");
    f.evidence = {concat(one.name, " is not in the loader's cache, nor in its folders")};
    f.leads_to = concat("OSError or ImportError (library not found) at import ", one.project);
    f.fix = debian ? concat("apt-get install -y ", one.package) : system_command(exam, std::string(one.name));
    findings.push_back(f);
  }
}

}  // namespace

void find_missing_libraries(const Exam& exam, Findings& findings) {
  std::map<std::string, Missing> missing, unused;
  std::set<const Library*> by_name;
  for (const auto& library : exam.libraries.all()) {
    if (!library->in_environment || !exam.libraries.fits_interpreter(*library)) continue;
    if (!library->missing.empty() && is_loaded_by_name(*library)) by_name.insert(library.get());
    const bool loaded = library->reachable || by_name.contains(library.get());
    for (const std::string& name : library->missing) {
      if (is_of_musl(name) && says_musl(library->owner)) continue;
      const bool needed = loaded && !from_driver(name) && !is_tried_only(*library, name);
      Missing& m = needed ? missing[name] : unused[name];
      m.needed_by.push_back(library->shown);
      if (!m.example || (library->owner && !m.example->owner)) m.example = library.get();
      m.optional &= library->standard && optional_module(library->shown);
    }
  }
  ModuleCounts counts;
  for (const auto& library : exam.libraries.all()) {
    if (!library->in_environment || !(library->module || by_name.contains(library.get()))) continue;
    ++counts[library->owner];
    for (const Library* needed : exam.libraries.closure(*library)) {
      for (const std::string& name : needed->missing) {
        if (const auto found = missing.find(name); found != missing.end())
          found->second.modules.insert(library.get());
      }
    }
  }
  for (const auto& [name, m] : missing) findings.push_back(describe(exam, name, m, counts));
  note_unused(unused, findings);
  opened_by_name(exam, findings);
}

}  // namespace plimsoll::doctor
