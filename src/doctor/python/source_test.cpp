#include "doctor/python/source.h"

#include <gtest/gtest.h>

namespace plimsoll::doctor {
namespace {

std::string shown(std::string_view source) {
  std::string out;
  for (const ImportStatement& s : read_source(source, {.with_chains = false}).imports) {
    if (s.tried >= 0 || s.fallback >= 0) continue;
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
  EXPECT_EQ(shown("import a; import b\nx = 1; import c\n"), "a b c ");
  EXPECT_EQ(shown("from a \\\n  import b\nfrom a.b import c"), "a:b a.b:c ");
}

TEST(Source, PassesOverWhatMayNotRun) {
  EXPECT_EQ(
      shown("try:\n  import a\nexcept ImportError:\n  pass\nif x:\n\timport b\ndef f():\n    import c\n"),
      "");
  EXPECT_EQ(shown("\"\"\"\nimport a\n'''\"\"\"\nx = 'it\\'s'\nimport b # import c\n"), "b ");
  EXPECT_EQ(shown("x = [\nimport_a,\n]\nimportant = 1\nfrom_x = 2\n"), "");
}

std::string chains(std::string_view source) {
  std::string out;
  for (const std::string& chain : read_source(source, {}).chains) out += chain + " ";
  return out;
}

TEST(Source, FindsNamesThatAreLookedUpWheneverItIsImported) {
  EXPECT_EQ(chains("@wraps(scipy.linalg.tril)\ndef f(a, b: t.U = np.float, c=x.y.z) -> u.v: return a.b\n"),
            "scipy.linalg.tril np.float x.y.z ");
  EXPECT_EQ(chains("class A(b.C, metaclass=d.E):\n  f = g.h\n  def m(self, k=n.o):\n    return p.q\n"),
            "b.C d.E g.h n.o ");
  EXPECT_EQ(chains("x = a.b(c.d)[e.f]\nx.y = g.h\nx: t.U\nx: t.U = i.j\n"), "a.b c.d e.f g.h i.j ");
}

TEST(Source, ReadsAProgramAsItIsRun) {
  const auto run = [](std::string_view source) {
    std::string out;
    for (const std::string& chain : read_source(source, {.program = true}).chains) out += chain + " ";
    return out;
  };
  const std::string_view guarded =
      "def f(x):\n  return a.b(x)\ndef g():\n  return c.d\nif __name__ == '__main__':\n  print(f(1))\n";
  EXPECT_EQ(run(guarded), "a.b ");
  EXPECT_EQ(chains(guarded), "");
  const std::string_view model =
      "class Net(n.M):\n  def go(self):\n    return p.q\nclass Other:\n  def go(self):\n    r.s()\nm = "
      "Net()\n";
  EXPECT_EQ(run(model), "n.M p.q ");
  EXPECT_EQ(chains(model), "n.M ");
  EXPECT_EQ(chains("def f():\n  return a.b\nx = f()\n"), "a.b ");
}

TEST(Source, PassesOverNamesThatMayNotBeLookedUp) {
  EXPECT_EQ(chains("x = a.b if c.d else e.f\ny = lambda: a.b\nz = a.b or c.d\nif a.b: c.d()\n"), "");
  EXPECT_EQ(chains("def f():\n  return a.b\nx = [a.b for a in c.d]\nprint(a.b)\ndel a.b\n"), "");
  EXPECT_EQ(chains("x = 'a.b'\ny = f'{a.b}'  # c.d\nz = 1.5\nw = f(x).y\n"), "");
}

TEST(Source, ReadsBlocksAsTheyRun) {
  EXPECT_EQ(shown("if TYPE_CHECKING:\n  import a\nelse:\n  import b\n"), "b ");
  EXPECT_EQ(
      shown("if sys.version_info >= (3, 8) and sys.platform != 'win32':\n  import a\nelif x:\n  import b\n"),
      "a ");
  EXPECT_EQ(shown("if sys.version_info[0] == 2: import a\nelse: import b\n"), "b ");
  EXPECT_EQ(shown("if x:\n  import a\nelse:\n  import b\nimport c\n"), "c ");
  EXPECT_EQ(
      shown(
          "try:\n  import a\nexcept ImportError:\n  raise RuntimeError('install a')\nfinally:\n  import b\n"),
      "a b ");
  EXPECT_EQ(
      shown("with warnings.catch_warnings():\n  import a\nfor x in y:\n  import b\nclass C:\n  import d\n"),
      "a b d ");
  EXPECT_EQ(shown("def f():\n  import a\n  if x:\n    return\n  import b\nf()\ndef g():\n  import c\n"),
            "a ");
  EXPECT_EQ(chains("try:\n  import a\n  x += (a.b,)\nexcept ImportError:\n  pass\n"), "a.b ");
  EXPECT_EQ(chains("try:\n  x = a.b\nexcept (AttributeError, KeyError):\n  x = c.d\n"), "");
  EXPECT_EQ(chains("def f(g):\n  x = a.b(g)\n  return g\n@f\ndef h(): pass\n"), "a.b ");
}

TEST(Source, TellsTriedImportsFromTheirFallbacks) {
  const SourceReading r = read_source("try:\n  import a\nexcept ImportError:\n  import b\nimport c\n", {});
  ASSERT_EQ(r.imports.size(), 3u);
  EXPECT_GE(r.imports[0].tried, 0);
  EXPECT_EQ(r.imports[1].fallback, r.imports[0].tried);
  EXPECT_EQ(r.imports[2].tried, -1);
  EXPECT_TRUE(read_source("try:\n  import a\nexcept Exception:\n  pass\n", {}).imports[0].all_caught);
}

TEST(Source, SaysWhatCannotBeCompiled) {
  for (const char* text : {"<<<<<<< HEAD\nx = 1\n", "def f(a):\n  return (a,", "x = '''abc",
                           "def f():\n  print 'a'\n", "try:\n  x\nexcept E, e:\n  pass\n", "raise E, 'a'\n"})
    EXPECT_NE(syntax_trouble(text), "") << text;
  for (const char* text : {"print('a')\n", "print ('a')\n", "print = 1\n", "'''\n<<<<<<< x\n'''\n",
                           "try:\n  x\nexcept (E, F):\n  pass\n", "", "x = [\n1,\n]\n", "raise E('a, b')\n"})
    EXPECT_EQ(syntax_trouble(text), "") << text;
}

TEST(Source, NamesOfAModuleAreAllItsWords) {
  const ModuleNames names = read_names("from .a import *\nimport b.c as d\nclass E: pass\nf.g = 'h'  # i\n");
  for (const char* name : {"d", "E", "f", "b"}) EXPECT_TRUE(names.words.contains(name)) << name;
  for (const char* name : {"g", "h", "i", "c"}) EXPECT_FALSE(names.words.contains(name)) << name;
  ASSERT_EQ(names.stars.size(), 1u);
  EXPECT_EQ(names.stars[0].module, "a");
  EXPECT_FALSE(names.open);
  EXPECT_TRUE(read_names("def __getattr__(name): pass").lazy);
  EXPECT_TRUE(read_names("def __getattr__(name): return getattr(other, name)").open);
  const char* const compares =
      "def __getattr__(name):\n  if name == 'a': return 1\n  raise AttributeError(name)\n";
  EXPECT_FALSE(read_names(compares).open);
  EXPECT_TRUE(read_names("def __getattr__(name):\n  return table[name]\n").open);
  EXPECT_TRUE(read_names("__getattr__, __all__ = attach_stub(__name__)\n").open);
  EXPECT_TRUE(read_names("for k in vars(x): pass\n").open);
  EXPECT_FALSE(read_names("for k in vars(x): pass\n", ModuleKind::plain_standard).open);
  EXPECT_EQ(read_names("x = 1\n__all__ = ['a',  # b\n  \"c\"]\n").exported,
            (std::set<std::string, std::less<>>{"a", "c"}));
  for (const char* text :
       {"__all__ = [s for s in dir()]", "__all__ = ['a'] + b.__all__", "x = 1", "__all__ = f("})
    EXPECT_FALSE(read_names(text).exported) << text;
  EXPECT_TRUE(read_names("import sys\nsys.modules['a.b'] = c").open);
  const ModuleNames inner = read_names("def f():\n  global g\n  h = 1\nclass A:\n  i = 1\nif x:\n  j = 1\n");
  for (const char* name : {"f", "g", "A", "j"}) EXPECT_TRUE(inner.words.contains(name)) << name;
  for (const char* name : {"h", "i"}) EXPECT_FALSE(inner.words.contains(name)) << name;
  EXPECT_TRUE(read_names("def f(d):\n  setattr(dtypes, d.name, d)\n").open);
  EXPECT_FALSE(read_names("def f(d):\n  setattr(self, d.name, d)\n").open);
  EXPECT_TRUE(read_names("globals()[f'get_{x}'] = 1\n").composed);
}

TEST(Source, EndsOnWhatIsNotPython) {
  for (const char* text : {"'''", "\"", "\\", "(((", "from", "from ", "import ", "from . ", ";;;", "#"}) {
    EXPECT_EQ(shown(text), "") << text;
  }
}

}  // namespace
}  // namespace plimsoll::doctor
