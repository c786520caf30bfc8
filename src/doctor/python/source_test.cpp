#include "doctor/python/source.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

std::string shown(std::string_view source) {
  std::string out;
  for (const ImportStatement& s : unconditional_imports(source)) {
    out += std::string(s.level, '.') + s.module;
    for (const std::string& name : s.names) out += ":" + name;
    out += " ";
  }
  return out;
}

TEST(Source, FindsImportsAtTheMargin) {
  EXPECT_EQ(shown("import os\nimport a.b as c, d\n"), "os a.b d ");
  EXPECT_EQ(
      shown("from a import (b,  # why\n  c as d,\n)\nfrom .e import *\nfrom .. import f\nfrom . import g\n"),
      "a:b:c .e ..:f .:g ");
  EXPECT_EQ(shown("import a; import b\nx = 1; import c\n"), "a b ");
  EXPECT_EQ(shown("from a \\\n  import b\nfrom a.b import c"), "a:b a.b:c ");
}

TEST(Source, PassesOverWhatMayNotRun) {
  EXPECT_EQ(
      shown("try:\n  import a\nexcept ImportError:\n  pass\nif x:\n\timport b\ndef f():\n    import c\n"),
      "");
  EXPECT_EQ(shown("\"\"\"\nimport a\n'''\"\"\"\nx = 'it\\'s'\nimport b # import c\n"), "b ");
  EXPECT_EQ(shown("x = [\nimport_a,\n]\nimportant = 1\nfrom_x = 2\n"), "");
}

TEST(Source, EndsOnWhatIsNotPython) {
  for (const char* text :
       {"'''", "\"", "\\", "(((", "from", "from ", "import ", "from . ", ";;;", "#"}) {
    EXPECT_EQ(shown(text), "") << text;
  }
}

}  // namespace
}  // namespace plimsoll::doctor
