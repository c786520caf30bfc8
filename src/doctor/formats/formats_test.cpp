// The readers on files made in code: what they must find in a sound one, and that a garbled one is an Error.
#include <gtest/gtest.h>

#include "doctor/fixtures.h"
#include "doctor/formats/elf.h"
#include "doctor/formats/hdf5_attributes.h"
#include "doctor/formats/ld_cache.h"
#include "doctor/formats/macho.h"

namespace plimsoll::doctor {
namespace {

template <class F>
ErrorKind kind_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::internal;
}

TEST(Bytes, ReadsInBothOrdersAndOnlyInside) {
  const Bytes little("\x01\x02\x03\x04", 4), big = little.with_endian(true);
  EXPECT_EQ(little.u32(0), 0x04030201u);
  EXPECT_EQ(big.u32(0), 0x01020304u);
  EXPECT_EQ(little.number(1, 2), 0x0302u);
  EXPECT_EQ(kind_of([&] { little.u32(1); }), ErrorKind::bad_file);
  EXPECT_EQ(kind_of([&] { little.sub(UINT64_MAX, 2); }), ErrorKind::bad_file);
  EXPECT_EQ(kind_of([&] { little.c_string(0); }), ErrorKind::bad_file);
}

TEST(Elf, ReadsWhatTheLoaderReads) {
  const std::string file = fixtures::elf();
  const Elf elf{Bytes(file)};
  EXPECT_EQ(elf.machine(), 62);
  EXPECT_TRUE(elf.is_64());
  EXPECT_EQ(elf.soname(), "libtiny.so.1");
  EXPECT_EQ(elf.runpath(), "$ORIGIN/lib");
  EXPECT_EQ(elf.needed(), (std::vector<std::string_view>{"libc.so.6"}));
  ASSERT_EQ(elf.version_needs().size(), 1u);
  EXPECT_EQ(elf.version_needs()[0].file, "libc.so.6");
  EXPECT_EQ(elf.version_needs()[0].version, "GLIBC_2.34");
  EXPECT_TRUE(elf.complete());
}

TEST(Elf, FindsSymbolsByEitherHashTable) {
  for (const bool gnu : {true, false}) {
    const std::string file = fixtures::elf({.gnu_hash = gnu});
    const Elf elf{Bytes(file)};
    EXPECT_TRUE(elf.defines("PyInit_tiny"));
    EXPECT_TRUE(elf.defines("helper"));
    EXPECT_FALSE(elf.defines("puts"));
    EXPECT_FALSE(elf.defines("nobody"));
    std::vector<std::string> undefined, defined;
    elf.for_each_undefined([&](std::string_view name, bool) { undefined.emplace_back(name); });
    elf.for_each_defined([&](std::string_view name) { defined.emplace_back(name); });
    EXPECT_EQ(undefined, (std::vector<std::string>{"puts"}));
    EXPECT_EQ(defined, (std::vector<std::string>{"PyInit_tiny", "helper"}));
  }
}

TEST(Elf, ReadsTheProcessorLevelTheLinkerNoted) {
  EXPECT_EQ(Elf(Bytes(fixtures::elf({.isa = 1 | 2 | 4}))).x86_level(), 3);
  EXPECT_EQ(Elf(Bytes(fixtures::elf())).x86_level(), 0);
}

TEST(Elf, KnowsWhenItIsCutOff) {
  const std::string file = fixtures::elf();
  bool noticed = false;
  try {
    noticed = !Elf(Bytes(std::string_view(file).substr(0, file.size() - 1))).complete();
  } catch (const Error& e) {
    noticed = e.kind() == ErrorKind::bad_file;
  }
  EXPECT_TRUE(noticed);
  EXPECT_EQ(kind_of([&] { Elf(Bytes("\177ELF nonsense of some length")); }), ErrorKind::bad_file);
}

TEST(MachO, ReadsEachArchitectureOfAUniversalFile) {
  const std::string file = fixtures::universal(
      {{0x01000007, fixtures::macho(0x01000007)}, {0x0100000c, fixtures::macho(0x0100000c)}});
  const std::vector<MachO> slices = MachO::slices(Bytes(file));
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].cpu_name(), "x86_64");
  EXPECT_EQ(slices[1].cpu_name(), "arm64");
  EXPECT_EQ(slices[1].dylibs().at(0).name, "@rpath/libx.dylib");
  slices[1].for_each_undefined([](std::string_view name, bool weak, unsigned library) {
    EXPECT_EQ(name, "_g");
    EXPECT_FALSE(weak);
    EXPECT_EQ(library, 1u);
  });
  slices[1].for_each_defined([](std::string_view name) { EXPECT_EQ(name, "_f"); });
}

TEST(MachO, IsNotConfusedByJavaClasses) {
  EXPECT_FALSE(MachO::looks_like(Bytes(std::string_view("\xca\xfe\xba\xbe\0\0\0\x34", 8))));
}

TEST(Hdf5, ReadsFixedAndVariableText) {
  const Hdf5Root root = read_hdf5_root(Bytes(fixtures::hdf5("2.3.1", "{\"a\": 1}")));
  EXPECT_EQ(root.text.at("keras_version"), "2.3.1");
  EXPECT_EQ(root.text.at("model_config"), "{\"a\": 1}");
  EXPECT_EQ(kind_of([] { read_hdf5_root(Bytes("not HDF5 at all, but long enough")); }), ErrorKind::bad_file);
}

TEST(LdCache, GivesFilesByName) {
  const auto files = parse_ld_cache(Bytes(fixtures::ld_cache("libx.so.1", "/usr/lib/libx.so.1")));
  EXPECT_EQ(files.at("libx.so.1"), (std::vector<std::string>{"/usr/lib/libx.so.1"}));
  EXPECT_EQ(kind_of([] { parse_ld_cache(Bytes("something else")); }), ErrorKind::bad_file);
}

TEST(MachO, FindsExportsInTheTrie) {
  const std::string file = fixtures::macho_with_trie(0x0100000c);
  const MachO slice = MachO::slices(Bytes(file)).front();
  ASSERT_TRUE(slice.has_export_trie());
  EXPECT_TRUE(slice.exports("_fone"));
  EXPECT_TRUE(slice.exports("_ftwo"));
  const std::string deep = fixtures::macho_with_trie(0x0100000c, "_a_long_way_to_go_");
  EXPECT_TRUE(MachO::slices(Bytes(deep)).front().exports("_a_long_way_to_go_one"));
  for (const char* name : {"_f", "_fon", "_fones", "_g", ""}) EXPECT_FALSE(slice.exports(name)) << name;
  std::vector<std::string> undefined;
  slice.for_each_undefined([&](std::string_view name, bool, unsigned) { undefined.emplace_back(name); });
  EXPECT_EQ(undefined, (std::vector<std::string>{"_g"}));
}

TEST(Hdf5, IsRefusedWhereItEndsBeforeItsHeaderSays) {
  const std::string file = fixtures::hdf5();
  EXPECT_NO_THROW(read_hdf5_root(Bytes(file)));
  EXPECT_EQ(kind_of([&] { read_hdf5_root(Bytes(file.data(), file.size() - 1)); }), ErrorKind::bad_file);
  EXPECT_NO_THROW(check_hdf5_end(Bytes(file.data(), 512), file.size()));
  EXPECT_EQ(kind_of([&] { check_hdf5_end(Bytes(file.data(), 512), file.size() - 1); }), ErrorKind::bad_file);
}

}  // namespace
}  // namespace plimsoll::doctor
