// Settings of graphics memory: who takes all of it, values nobody understands, drivers too old.
#include <cstdlib>
#include <optional>

#include "doctor/commands.h"
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

void check_flags(const Exam& exam, Findings& findings) {
  const System& system = exam.system;
  for (const char* name : {"TF_FORCE_GPU_ALLOW_GROWTH", "XLA_PYTHON_CLIENT_PREALLOCATE"}) {
    const std::string_view value = system.variable(name);
    if (!system.has_variable(name) || is_flag(value)) continue;
    add(findings, Severity::warning, concat(name, " has a value that is not understood"),
        concat(name, "=", value), "The setting is ignored: all graphics memory is taken at the first use",
        set_command(exam, name, "true"));
  }
  for (const char* name : {"XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"}) {
    if (!system.has_variable(name)) continue;
    const std::string text(system.variable(name));
    char* end = nullptr;
    const double fraction = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0' && fraction > 0 && fraction <= 1) continue;
    add(findings, Severity::warning, concat(name, " is not a share between 0 and 1"), concat(name, "=", text),
        "JAX stops with an error, or takes more memory than there is", set_command(exam, name, ".75"));
  }
}

// What PyTorch's allocator understands; an unknown word is an error at the first use, or at import.
bool is_allocator_option(std::string_view key) {
  for (const std::string_view known :
       {"max_split_size_mb", "max_non_split_rounding_mb", "roundup_power2_divisions",
        "roundup_bypass_threshold_mb", "garbage_collection_threshold", "expandable_segments", "backend",
        "release_lock_on_cudamalloc", "pinned_use_cuda_host_register", "pinned_use_hip_host_register",
        "pinned_num_register_threads", "pinned_use_background_threads", "pinned_reserve_segment_size_mb",
        "graph_capture_record_stream_reuse", "per_process_memory_fraction", "throw_on_cudamalloc_oom",
        "large_segment_size_mb"}) {
    if (key == known) return true;
  }
  return false;
}

void check_allocator(const Exam& exam, Findings& findings) {
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    const std::string_view value = exam.system.variable(name);
    int depth = 0;  // roundup_power2_divisions:[256:1,512:2]
    for (const std::string_view option : split(value, ",")) {
      const std::string_view key = trim(option.substr(0, option.find(':')));
      const bool inside = depth > 0;
      for (const char c : option) depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (inside || trim(option).empty() || (contains(option, ":") && is_allocator_option(key))) continue;
      add(findings, Severity::warning, concat(name, " cannot be understood: ", trim(option)),
          concat(name, "=", value),
          "RuntimeError: Unrecognized key found in the config, when PyTorch first uses the graphics card",
          set_command(exam, name, "expandable_segments:True"));
      break;
    }
  }
}

std::optional<double> number(const System& system, const char* name) {
  if (!system.has_variable(name)) return std::nullopt;
  const std::string text(system.variable(name));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' ? std::optional(value) : std::nullopt;
}

// PyTorch on Apple's graphics: 0 to 2, and the low mark not above the high one; the low one is 1.4 unless
// set.
void check_mps(const Exam& exam, Findings& findings) {
  constexpr const char *kHigh = "PYTORCH_MPS_HIGH_WATERMARK_RATIO", *kLow = "PYTORCH_MPS_LOW_WATERMARK_RATIO";
  const System& s = exam.system;
  if (!exam.environment.is_macos || !exam.environment.find("torch")) return;
  for (const char* name : {kHigh, kLow}) {
    const auto value = number(s, name);
    if (!s.has_variable(name) || (value && *value >= 0 && *value <= 2)) continue;
    add(findings, Severity::error, concat(name, " is not between 0 and 2"),
        concat(name, "=", s.variable(name)),
        "RuntimeError: invalid watermark ratio, when PyTorch first uses the graphics card",
        unset_command(exam, name));
    return;
  }
  const double high = number(s, kHigh).value_or(1.7), low = number(s, kLow).value_or(1.4);
  if (high == 0 || low <= high) return;
  add(findings, Severity::error, concat(kHigh, " is below the low watermark"),
      concat(kHigh, "=", s.variable(kHigh), ", the low one is ",
             s.has_variable(kLow) ? s.variable(kLow) : "1.4, its default"),
      "RuntimeError: invalid low watermark ratio 1.4, when PyTorch first uses the graphics card",
      s.has_variable(kLow) ? concat(unset_command(exam, kLow), "; ", unset_command(exam, kHigh))
                           : set_command(exam, kLow, "0.0"));
}

void check_sharing(const Exam& exam, Findings& findings) {
  const bool tensorflow = exam.environment.find("tensorflow") || exam.environment.find("tensorflow-gpu");
  if (tensorflow && lower_case(exam.system.variable("TF_FORCE_GPU_ALLOW_GROWTH")) != "true") {
    add(findings, Severity::note, "TensorFlow takes all graphics memory at its first use",
        "TF_FORCE_GPU_ALLOW_GROWTH is not set",
        "A second notebook or framework on the card runs out of memory at once",
        set_command(exam, "TF_FORCE_GPU_ALLOW_GROWTH", "true"));
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
        set_command(exam, "XLA_PYTHON_CLIENT_PREALLOCATE", "false"));
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
  check_flags(exam, findings);
  check_allocator(exam, findings);
  check_mps(exam, findings);
  if (exam.system.nvidia_driver.empty()) return;
  check_sharing(exam, findings);
  check_driver(exam, findings);
  const std::string_view visible = exam.system.variable("CUDA_VISIBLE_DEVICES");
  if (exam.system.has_variable("CUDA_VISIBLE_DEVICES") && (visible.empty() || visible == "-1")) {
    add(findings, Severity::note, "CUDA_VISIBLE_DEVICES hides every graphics card",
        concat("CUDA_VISIBLE_DEVICES=\"", visible, "\""), "Everything runs on the processor",
        unset_command(exam, "CUDA_VISIBLE_DEVICES"));
  }
}

}  // namespace plimsoll::doctor
