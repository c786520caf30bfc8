#include "device_plugin/catalogue.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device_plugin/interpreter.h"
#include "op_sweep/kernel_cases.h"
#include "plimsoll/device_ops.h"

namespace plimsoll::testing {
namespace {

namespace fs = std::filesystem;

fs::path in_project(const char* name) { return fs::path(PLIMSOLL_GOLDEN_FOLDER) / "../.." / name; }

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Catalogue, ListsEveryOp) {
  const fs::path path = in_project("include/plimsoll/device_ops.h");
  const std::string text = catalogue_text();
  if (std::getenv("PLIMSOLL_WRITE_DOCS") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(contents(path), text) << "an op has changed: see the head of the file";
}

TEST(Catalogue, IsATableForTheCompilerToo) {
  struct Row {
    std::string_view name;
    int least, most, fewest, outputs, flags;
    std::string_view attributes;
  };
#define PLIMSOLL_ROW(name, ...) Row{#name, __VA_ARGS__},
  static constexpr Row rows[] = {PLIMSOLL_OPS(PLIMSOLL_ROW)};
#undef PLIMSOLL_ROW
  EXPECT_EQ(std::size(rows), all_ops().size());
  for (const Row& row : rows) {
    const OpDef& op = get_op(row.name);
    EXPECT_EQ(row.least, op.arity.least) << row.name;
    EXPECT_EQ((row.flags & PLIMSOLL_OP_ELEMENTWISE) != 0, op.tile != nullptr) << row.name;
    EXPECT_EQ(row.attributes.empty(), op.attrs.empty()) << row.name;
  }
}

TEST(Catalogue, ThePageForAuthorsSaysWhatEveryPrimitiveDoes) {
  const std::string page = contents(in_project("docs/devices.md"));
  for (const OpDef* op : all_ops()) {
    if (!is_primitive(*op)) continue;
    EXPECT_NE(page.find(concat("`", op->name)), std::string::npos) << op->name;
  }
}

TEST(Catalogue, TheInterpreterHasEveryPrimitive) {
  if (!tests_the_interpreter()) return;
  const auto device = open_interpreter();
  for (const OpDef* op : all_ops()) {
    if (!is_primitive(*op)) continue;
    std::vector<SweepCase> cases = sweep_cases(*op);
    if (cases.empty()) cases = kernel_cases(*op);
    ASSERT_FALSE(cases.empty()) << op->name;
    const std::vector<TensorType> in = types_of(cases[0]);
    const bool runs = device->capabilities().runs({*op, in, cases[0].attrs}, cases[0].out);
    EXPECT_EQ(runs, !left_out(op->name))
        << op->name << ": add it to examples/device, or say in catalogue.cpp why it is left out";
  }
}

}  // namespace
}  // namespace plimsoll::testing
