// All text that Python packages bring along: versions, requirements, markers, METADATA, RECORD.
#include "doctor/python/metadata.h"
#include "doctor/python/import_path.h"
#include "doctor/python/requirement.h"
#include "doctor/python/source.h"
#include "fuzz.h"

using namespace plimsoll::doctor;

std::vector<std::string> seeds() {
  return {"1!2.0rc1.post2.dev3+cpu.5",
          ">=1.26,<3,!=2.0.*,~=2.2",
          "jax[cuda12] (>=0.4) ; python_version >= '3.9' and (extra == 'x' or os_name not in \"nt\")",
          "Name: a\nRequires-Dist: b\n  c\n\nbody",
          "\"a,\"\"b\".py\",sha256=x,12\nc,,\n",
          "home = /usr\n",
          "import os; enabled and __import__('_hook'); sys.path.insert(0, '/x')",
          "from .a import (b,  # c\n d)\n\"\"\"\nimport x\"\"\"\nimport y as z; import w\n",
          "cp311-cp311-manylinux_2_17_x86_64"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto version = Version::parse(text);
  const auto specifiers = Specifiers::parse(text);
  if (version && specifiers) specifiers->contains(*version);
  if (specifiers) specifiers->contains(*Version::parse("2.0.1"));
  static const MarkerValues values = {{"python_version", "3.11"}, {"os_name", "posix"}};
  marker_holds(text, values);
  if (const auto requirement = Requirement::parse(text)) marker_holds(requirement->marker, values, "x");
  parse_headers(text);
  parse_record(text);
  parse_key_values(text);
  WheelTag::parse(text);
  parse_pth_line(text);
  read_source(text, {});
  read_names(text);
  syntax_trouble(text);
  return 0;
}
