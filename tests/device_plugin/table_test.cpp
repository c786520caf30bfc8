// The functions of the plug-in's table, called as the header says and without the engine.
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "device_plugin/interpreter.h"

namespace plimsoll::testing {
namespace {

class DeviceTable : public ::testing::Test {
 protected:
  void open(const char* options) {
    setenv("PLIMSOLL_INTERPRETER", options, 1);
    library_ = dlopen(INTERPRETER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    const auto entry = reinterpret_cast<plimsoll_device_plugin_fn>(dlsym(library_, "plimsoll_device_plugin"));
    table_ = entry(PLIMSOLL_DEVICE_MAJOR);
    ASSERT_NE(table_, nullptr);
    EXPECT_EQ(entry(PLIMSOLL_DEVICE_MAJOR + 1), nullptr);
    device_ = table_->device_open(0, &error_);
    ASSERT_NE(device_, nullptr);
    stream_ = table_->stream_create(device_, &error_);
  }
  void TearDown() override {
    table_->stream_destroy(stream_);
    table_->device_close(device_);
    dlclose(library_);
  }
  int64_t free_bytes() {
    plimsoll_memory_info info{};
    table_->device_memory(device_, &info, &error_);
    return info.free;
  }

  void* library_ = nullptr;
  const plimsoll_device_table* table_ = nullptr;
  plimsoll_device* device_ = nullptr;
  plimsoll_stream* stream_ = nullptr;
  plimsoll_error error_{};
};

// out = add(in, constant), of three floats; scratch and alias are not used.
struct AddProgram {
  std::array<int64_t, 1> sizes = {3};
  std::array<float, 3> constant = {10, 20, 30};
  std::array<plimsoll_type, 3> values;
  std::array<int32_t, 2> inputs = {0, 1};
  std::array<int32_t, 1> first = {0}, second = {1}, third = {2};
  plimsoll_attr value{};
  std::array<plimsoll_node, 2> nodes{};
  plimsoll_graph graph{};
  std::array<int32_t, 1> order = {1};
  std::array<plimsoll_place, 3> places = {
      {{PLIMSOLL_PLACE_INPUT, 0}, {PLIMSOLL_PLACE_CONSTANT, 0}, {PLIMSOLL_PLACE_OUTPUT, 0}}};
  std::array<int64_t, 2> scratch = {0, 0};
  std::array<plimsoll_slice, 2> constants{};
  plimsoll_plan plan{};

  explicit AddProgram(const char* op = "add") {
    values.fill({PLIMSOLL_F32, 1, sizes.data()});
    value.name = "value";
    value.kind = PLIMSOLL_ATTR_TENSOR;
    value.type = values[1];
    value.data = constant.data();
    nodes[0].op = "constant";
    nodes[0].layer = "";
    nodes[0].outputs = second.data();
    nodes[0].output_count = 1;
    nodes[0].attrs = &value;
    nodes[0].attr_count = 1;
    nodes[1].op = op;
    nodes[1].layer = "layer";
    nodes[1].inputs = inputs.data();
    nodes[1].input_count = 2;
    nodes[1].outputs = third.data();
    nodes[1].output_count = 1;
    graph.size = sizeof graph;
    graph.node_size = sizeof(plimsoll_node);
    graph.attr_size = sizeof(plimsoll_attr);
    graph.values = values.data();
    graph.value_count = 3;
    graph.nodes = nodes.data();
    graph.node_count = 2;
    graph.inputs = first.data();
    graph.input_count = 1;
    graph.outputs = third.data();
    graph.output_count = 1;
    plan.size = sizeof plan;
    plan.order = order.data();
    plan.order_count = 1;
    plan.places = places.data();
    plan.scratch = scratch.data();
    plan.constants = constants.data();
  }
};

TEST_F(DeviceTable, RunsAProgramOnItsOwnMemory) {
  open("");
  const int64_t before = free_bytes();
  AddProgram add;
  plimsoll_buffer* buffer = table_->buffer_allocate(device_, 64, &error_);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(free_bytes(), before - 64);
  add.constants[0] = {buffer, 32};
  const std::array<float, 3> in = {1, 2, 3};
  table_->copy_to_device(stream_, {buffer, 0}, in.data(), 12, &error_);
  table_->copy_to_device(stream_, {buffer, 32}, add.constant.data(), 12, &error_);

  plimsoll_program* program = table_->program_compile(device_, &add.graph, add.scratch.data(), &error_);
  ASSERT_NE(program, nullptr) << error_.message;
  ASSERT_EQ(table_->program_plan(program, &add.plan, &error_), PLIMSOLL_OK);
  const plimsoll_slice from{buffer, 0}, to{buffer, 16};
  plimsoll_run run{};
  run.size = sizeof run;
  run.inputs = &from;
  run.outputs = &to;
  ASSERT_EQ(table_->program_run(program, stream_, &run, &error_), PLIMSOLL_OK);
  std::array<float, 3> out{};
  table_->copy_to_host(stream_, out.data(), {buffer, 16}, 12, &error_);
  ASSERT_EQ(table_->stream_sync(stream_, &error_), PLIMSOLL_OK) << error_.message;
  EXPECT_EQ(out, (std::array<float, 3>{11, 22, 33}));

  std::array<double, 2> seconds{};
  EXPECT_EQ(table_->program_profile(program, stream_, &run, seconds.data(), &error_), PLIMSOLL_OK);
  EXPECT_GT(seconds[1], 0);
  table_->program_destroy(program);
  table_->buffer_free(device_, buffer);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(DeviceTable, SaysWhatItCanDoAndRefusesTheRest) {
  open("fuse");
  const AddProgram add, dense("dense");
  plimsoll_support support{};
  support.size = sizeof support;
  EXPECT_EQ(table_->support(device_, &add.graph, 1, &support, &error_), PLIMSOLL_OK);
  EXPECT_EQ(support.runs, 1);
  EXPECT_EQ(support.fuses, PLIMSOLL_FUSE_MAP);
  EXPECT_EQ(support.in_place[0], 3u);
  support = {};
  EXPECT_EQ(table_->support(device_, &dense.graph, 1, &support, &error_), PLIMSOLL_OK);
  EXPECT_EQ(support.runs, 0);
  std::array<int64_t, 2> scratch{};
  EXPECT_EQ(table_->program_compile(device_, &dense.graph, scratch.data(), &error_), nullptr);
  EXPECT_EQ(error_.kind, PLIMSOLL_UNSUPPORTED);
  EXPECT_EQ(error_.node, 1);
}

// A struct as a newer engine would have it: `size` covers fields that the plug-in has never heard of.
template <class T>
struct Larger {
  T known{};
  std::array<char, 24> more;
  Larger() { more.fill(0x77); }
};

TEST_F(DeviceTable, StructsOfANewerEngineMayBeLarger) {
  open("");
  AddProgram clip("clip");  // of the input alone, with two attributes
  std::array<Larger<plimsoll_attr>, 2> bounds;
  for (const auto& [i, name, bound] :
       {std::tuple(size_t{0}, "low", 1.5), std::tuple(size_t{1}, "high", 2.5)}) {
    bounds[i].known.name = name;
    bounds[i].known.kind = PLIMSOLL_ATTR_REAL;
    bounds[i].known.real = bound;
  }
  std::array<Larger<plimsoll_node>, 2> nodes;
  for (size_t i = 0; i < 2; ++i) nodes[i].known = clip.nodes[i];
  nodes[1].known.input_count = 1;
  nodes[1].known.attrs = &bounds[0].known;
  nodes[1].known.attr_count = 2;
  Larger<plimsoll_graph> graph;
  graph.known = clip.graph;
  graph.known.size = sizeof graph;
  graph.known.nodes = &nodes[0].known;
  graph.known.node_size = sizeof nodes[0];
  graph.known.attr_size = sizeof bounds[0];
  plimsoll_program* program = table_->program_compile(device_, &graph.known, clip.scratch.data(), &error_);
  ASSERT_NE(program, nullptr) << error_.message;
  std::array<char, 64> name{};
  table_->program_kernel_name(program, 1, name.data(), name.size(), &error_);
  EXPECT_STREQ(name.data(), "interpreted clip");

  Larger<plimsoll_plan> plan;
  plan.known = clip.plan;
  plan.known.size = sizeof plan;
  ASSERT_EQ(table_->program_plan(program, &plan.known, &error_), PLIMSOLL_OK);
  plimsoll_buffer* buffer = table_->buffer_allocate(device_, 64, &error_);
  std::array<float, 3> values = {1, 2, 3};
  table_->copy_to_device(stream_, {buffer, 0}, values.data(), 12, &error_);
  const plimsoll_slice from{buffer, 0}, to{buffer, 16};
  Larger<plimsoll_run> run;
  run.known.size = sizeof run;
  run.known.inputs = &from;
  run.known.outputs = &to;
  ASSERT_EQ(table_->program_run(program, stream_, &run.known, &error_), PLIMSOLL_OK);
  table_->copy_to_host(stream_, values.data(), to, 12, &error_);
  ASSERT_EQ(table_->stream_sync(stream_, &error_), PLIMSOLL_OK) << error_.message;
  EXPECT_EQ(values, (std::array<float, 3>{1.5, 2, 2.5}));
  table_->program_destroy(program);
  table_->buffer_free(device_, buffer);
}

// `joins` came with minor version 1 of the interface.
TEST_F(DeviceTable, WhatAnOlderEngineHasNotIsNotWritten) {
  open("joins");
  plimsoll_limits limits{};
  limits.size = offsetof(plimsoll_limits, joins);
  EXPECT_EQ(table_->device_limits(device_, &limits, &error_), PLIMSOLL_OK);
  EXPECT_EQ(limits.joins, 0);
  limits.size = sizeof limits;
  EXPECT_EQ(table_->device_limits(device_, &limits, &error_), PLIMSOLL_OK);
  EXPECT_EQ(limits.joins, 1);
}

TEST_F(DeviceTable, StreamsWaitForEachOthersEvents) {
  open("");
  plimsoll_stream* other = table_->stream_create(device_, &error_);
  plimsoll_buffer* buffer = table_->buffer_allocate(device_, 1 << 20, &error_);
  plimsoll_event* event = table_->event_create(device_, &error_);
  EXPECT_EQ(table_->event_sync(event, &error_), PLIMSOLL_OK) << "never recorded: nothing to wait for";
  std::vector<char> in(1 << 20), out(1 << 20);
  for (int round = 1; round < 20; ++round) {
    std::fill(in.begin(), in.end(), static_cast<char>(round));
    table_->copy_to_device(stream_, {buffer, 0}, in.data(), 1 << 20, &error_);
    table_->event_record(event, stream_, &error_);
    table_->event_wait(event, other, &error_);
    table_->copy_to_host(other, out.data(), {buffer, 0}, 1 << 20, &error_);
    ASSERT_EQ(table_->stream_sync(other, &error_), PLIMSOLL_OK);
    ASSERT_EQ(out, in);
  }
  table_->event_destroy(event);
  table_->stream_destroy(other);
  table_->buffer_free(device_, buffer);
}

TEST_F(DeviceTable, CopiesOutsideABufferAndTooLargeBuffersAreRefused) {
  open("memory=1000");
  EXPECT_EQ(table_->buffer_allocate(device_, 1001, &error_), nullptr);
  EXPECT_EQ(error_.kind, PLIMSOLL_OUT_OF_MEMORY);
  EXPECT_STREQ(error_.message, "1001 bytes asked for, 1000 of 1000 are free");
  plimsoll_buffer* buffer = table_->buffer_allocate(device_, 8, &error_);
  std::array<char, 16> host{};
  EXPECT_EQ(table_->copy_to_device(stream_, {buffer, 0}, host.data(), 9, &error_), PLIMSOLL_INVALID_ARGUMENT);
  EXPECT_EQ(table_->copy_to_host(stream_, host.data(), {buffer, 8}, 1, &error_), PLIMSOLL_INVALID_ARGUMENT);
  EXPECT_EQ(table_->copy_to_host(stream_, host.data(), {buffer, -1}, 1, &error_), PLIMSOLL_INVALID_ARGUMENT);
  table_->buffer_free(device_, buffer);
}

}  // namespace
}  // namespace plimsoll::testing
