// Settings of graphics memory: who takes all of it, values nobody understands, drivers too old.
#include <charconv>

#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

void add(Findings& findings, Severity severity, std::string what, std::string seen, std::string leads_to,
         std::string fix) {
  findings.push_back({"",
                      severity,
                      Sureness::likely,
                      std::move(what),
                      {std::move(seen)},
                      std::move(leads_to),
                      std::move(fix)});
}

bool is_flag(std::string_view value) {
  const std::string v = lower_case(value);
  return v == "true" || v == "false" || v == "0" || v == "1";
}

void check_flags(const System& system, Findings& findings) {
  for (const char* name : {"TF_FORCE_GPU_ALLOW_GROWTH", "XLA_PYTHON_CLIENT_PREALLOCATE"}) {
    const std::string_view value = system.variable(name);
    if (!system.has_variable(name) || is_flag(value)) continue;
    add(findings, Severity::warning, concat(name, " has a value that is not understood"),
        concat(name, "=", value), "The setting is ignored: all graphics memory is taken at the first use",
        concat("export ", name, "=true"));
  }
  for (const char* name : {"XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"}) {
    if (!system.has_variable(name)) continue;
    const std::string text(system.variable(name));
    char* end = nullptr;
    const double fraction = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0' && fraction > 0 && fraction <= 1) continue;
    add(findings, Severity::warning, concat(name, " is not a share between 0 and 1"), concat(name, "=", text),
        "JAX stops with an error, or takes more memory than there is", concat("export ", name, "=.75"));
  }
}

void check_allocator(const System& system, Findings& findings) {
  const std::string_view value = system.variable("PYTORCH_CUDA_ALLOC_CONF");
  for (const std::string_view option : split(value, ",")) {
    if (trim(option).empty() || contains(option, ":") || contains(option, "]")) continue;
    add(findings, Severity::warning, "PYTORCH_CUDA_ALLOC_CONF cannot be understood",
        concat("PYTORCH_CUDA_ALLOC_CONF=", value), "RuntimeError when PyTorch first uses the graphics card",
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    return;
  }
}

void check_sharing(const Exam& exam, Findings& findings) {
  const bool tensorflow = exam.environment.find("tensorflow") || exam.environment.find("tensorflow-gpu");
  if (tensorflow && lower_case(exam.system.variable("TF_FORCE_GPU_ALLOW_GROWTH")) != "true") {
    add(findings, Severity::note, "TensorFlow takes all graphics memory at its first use",
        "TF_FORCE_GPU_ALLOW_GROWTH is not set",
        "A second notebook or framework on the card runs out of memory at once",
        "export TF_FORCE_GPU_ALLOW_GROWTH=true");
  }
  bool jax_gpu = false;
  for (const Distribution& d : exam.environment.distributions) {
    jax_gpu |= d.normal.starts_with("jax-cuda") || d.normal.starts_with("jax-rocm");
  }
  if (jax_gpu && !exam.system.has_variable("XLA_PYTHON_CLIENT_PREALLOCATE") &&
      !exam.system.has_variable("XLA_PYTHON_CLIENT_MEM_FRACTION")) {
    add(findings, Severity::note, "JAX takes three quarters of the graphics memory at its first use",
        "XLA_PYTHON_CLIENT_PREALLOCATE is not set",
        "A second notebook or framework on the card runs out of memory",
        "export XLA_PYTHON_CLIENT_PREALLOCATE=false");
  }
}

// Oldest Linux driver for each CUDA major version (CUDA compatibility guide).
void check_driver(const Exam& exam, Findings& findings) {
  const auto driver = Version::parse(exam.system.nvidia_driver);
  if (!driver) return;
  const std::pair<const char*, std::pair<const char*, const char*>> runtimes[] = {
      {"nvidia-cuda-runtime", {">=13", "580"}},
      {"nvidia-cuda-runtime-cu12", {">=12", "525"}},
      {"nvidia-cuda-runtime-cu11", {">=11", "450"}}};
  for (const auto& [project, rule] : runtimes) {
    const Distribution* d = exam.environment.find(project);
    if (!d || !d->version || !Specifiers::parse(rule.first)->contains(*d->version)) continue;
    if (*driver >= *Version::parse(rule.second)) continue;
    add(findings, Severity::warning, concat("The NVIDIA driver is too old for CUDA ", d->version->major()),
        concat("driver ", exam.system.nvidia_driver, ", ", d->shown(), " needs ", rule.second, " or newer"),
        "CUDA driver version is insufficient for CUDA runtime version: the card is not used",
        concat("Install NVIDIA driver ", rule.second, " or newer, or builds for an older CUDA."));
  }
}

}  // namespace

void find_gpu_settings(const Exam& exam, Findings& findings) {
  check_flags(exam.system, findings);
  check_allocator(exam.system, findings);
  if (exam.system.nvidia_driver.empty()) return;
  check_sharing(exam, findings);
  check_driver(exam, findings);
  const std::string_view visible = exam.system.variable("CUDA_VISIBLE_DEVICES");
  if (exam.system.has_variable("CUDA_VISIBLE_DEVICES") && (visible.empty() || visible == "-1")) {
    add(findings, Severity::note, "CUDA_VISIBLE_DEVICES hides every graphics card",
        concat("CUDA_VISIBLE_DEVICES=\"", visible, "\""), "Everything runs on the processor",
        "unset CUDA_VISIBLE_DEVICES");
  }
}

}  // namespace plimsoll::doctor
