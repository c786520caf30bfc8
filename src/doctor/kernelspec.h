// Jupyter's kernelspecs as files: where they lie, what they start, which variables they set.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "doctor/python/environment.h"
#include "doctor/system.h"

namespace plimsoll::doctor {

struct KernelSpec {
  std::filesystem::path file;
  std::string program;              // argv[0]; empty if it cannot be understood
  std::string module;               // that Python is to run (-m); empty: none
  std::string not_json;             // where it stops being JSON
  std::string no_list;              // argv, as JSON, where it is no list of texts
  bool has_connection_file = true;  // argv has a place for it
  bool ipykernel = false;           // a Python that runs ipykernel itself, not a program in front of it
  bool of_environment = false;      // lies inside the environment
  bool runs_environment = false;    // starts a Python of this environment
  std::map<std::string, std::string> variables;  // that it sets
  std::map<std::string, std::string> no_texts;   // variables whose value is no text, as JSON
};

std::vector<KernelSpec> read_kernelspecs(const Environment& environment, const System& system);

// The readings with the variables a kernelspec sets; ${NAME} in them is replaced, as Jupyter does.
System with_variables(const System& system, const KernelSpec& spec);

}  // namespace plimsoll::doctor
