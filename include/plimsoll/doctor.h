// The doctor examines a Python environment from its files alone, imports nothing (unless asked), and
// says what would crash, why, and which command fixes it.
//
//   doctor::Diagnosis d = doctor::examine({.environment = "/home/ada/venv"});
//   std::cout << d.text(false);
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plimsoll::doctor {

enum class Severity { note, warning, error };
enum class Sureness { possible, likely, certain };
std::string_view name_of(Severity severity);
std::string_view name_of(Sureness sureness);

struct Finding {
  std::string id;  // the check that made it, such as "architecture"
  Severity severity = Severity::note;
  Sureness sureness = Sureness::certain;
  std::string what;                   // one sentence
  std::vector<std::string> evidence;  // files, versions, readings
  std::string leads_to;               // what happens if nothing is done
  std::string fix;                    // a command, or a sentence where no command does it

  // What the fix installs. examine() makes one command of all findings that touch the same projects, so that
  // no fix undoes another; what a check wrote into `fix` is then done first.
  struct Install {
    std::string requirement;  // "keras>=3"
    std::string by;           // the project that wants it so; empty: none
    bool again = false;       // write the files of the same version anew
  };
  std::vector<Install> installs = {};
  std::vector<std::string> removes = {};  // projects that are uninstalled before
};

struct Options {
  // A venv, conda environment, prefix or Python executable. Empty: VIRTUAL_ENV, CONDA_PREFIX, else
  // the python3 on PATH.
  std::filesystem::path environment;
  std::filesystem::path model;        // (optional) a model, data file, program or notebook to judge
  std::filesystem::path post_mortem;  // (optional) a report the guard wrote
  std::filesystem::path system;       // (optional) readings of another machine, as json() gives them
  bool import = false;                // import each framework in a process of its own
};

struct Diagnosis {
  std::string environment;  // where, which kind, which Python
  size_t distributions = 0, libraries = 0;
  double seconds = 0;
  std::vector<Finding> findings;  // most severe first
  std::string system_json;        // the readings the findings rest on

  // 0: nothing above a note; 1: warnings; 2: errors.
  int exit_status() const;
  std::string text(bool colour) const;
  std::string json() const;
};

// Throws Error{not_found} if there is no Python environment at the place given, Error{bad_file} if
// a post-mortem or system file cannot be understood. A broken environment is a finding, not an error.
Diagnosis examine(const Options& options);

}  // namespace plimsoll::doctor
