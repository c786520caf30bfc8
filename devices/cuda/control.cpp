// Ops that run other programs: cond, while_loop and scan. The arena of the inner program is part of the
// node's scratch. Rounds of a scan are queued one after the other; what cond and while_loop do depends on a
// value on the device, which they wait for.
#include <algorithm>
#include <utility>

#include "ops.h"
#include "program.h"

namespace plimsoll::cuda {
namespace {

// A program of a sub-graph with lists of addresses for a run of it.
struct Inner {
  Inner(Build& b, std::string_view name)
      : program(b.node.attr(name)->program),
        arena_bytes(b.node.attr(name)->arena_bytes),
        inputs(static_cast<size_t>(b.node.attr(name)->graph->input_count)),
        outputs(static_cast<size_t>(b.node.attr(name)->graph->output_count)) {}

  void queue(CUstream stream, CUdeviceptr arena) {
    program->queue(stream, arena, inputs.data(), outputs.data(), nullptr);
  }

  plimsoll_program* program;
  int64_t arena_bytes;
  std::vector<CUdeviceptr> inputs, outputs;
};

// The bool at an address, once everything before on the stream has run.
bool read_flag(const Place& place, CUdeviceptr at) {
  uint8_t flag = 0;
  check(driver().copy_to_host(&flag, at, 1, place.stream), "reading a condition");
  check(driver().stream_synchronize(place.stream), "waiting for a condition");
  return flag != 0;
}

// The operands and results of the node, by number.
struct Operands {
  explicit Operands(const Build& b) {
    for (size_t i = 0; i < b.node.input_count(); ++i) in.push_back(b.in(i));
    for (size_t i = 0; i < b.node.output_count(); ++i) {
      out.push_back(b.out(i));
      bytes.push_back(b.node.out(i).bytes());
    }
  }
  std::vector<Ref> in, out;
  std::vector<int64_t> bytes;  // of the results
};

// A loop keeps its state in two copies that take turns, so that a round never writes what it reads.
class State {
 public:
  State(Build& b, const Operands& operands, size_t count)
      : bytes_(operands.bytes.begin(), operands.bytes.begin() + static_cast<ptrdiff_t>(count)) {
    for (auto& copy : copies_)
      for (const int64_t bytes : bytes_) copy.push_back(b.scratch(bytes));
  }
  // Round `turn` of `body` writes the copy that the round before has not.
  void write(const Place& place, Inner& body, bool turn) const {
    for (size_t i = 0; i < bytes_.size(); ++i) body.outputs[i] = place(copies_[turn][i]);
  }
  static void read(size_t count, const Inner& from, Inner& to) {
    std::copy_n(from.outputs.begin(), count, to.inputs.begin());
  }
  void keep(const Place& place, const Inner& body, const Operands& operands) const {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const CUdeviceptr to = place(operands.out[i]);
      if (bytes_[i] > 0 && to != 0)
        check(driver().copy_on_device(to, body.inputs[i], static_cast<size_t>(bytes_[i]), place.stream),
              "copy");
    }
  }
  size_t count() const { return bytes_.size(); }

 private:
  std::vector<int64_t> bytes_;
  std::vector<Ref> copies_[2];
};

class CondStep final : public Step {
 public:
  explicit CondStep(Build& b)
      : operands_(b),
        branches_{Inner(b, "if_false"), Inner(b, "if_true")},
        arena_(b.scratch(std::max(branches_[0].arena_bytes, branches_[1].arena_bytes))) {}
  void run(const Place& place) override {
    Inner& chosen = branches_[read_flag(place, place(operands_.in[0]))];
    for (size_t i = 0; i < chosen.inputs.size(); ++i) chosen.inputs[i] = place(operands_.in[i + 1]);
    for (size_t i = 0; i < chosen.outputs.size(); ++i) chosen.outputs[i] = place(operands_.out[i]);
    chosen.queue(place.stream, place(arena_));
  }
  bool captures() const override { return false; }
  std::string name() const override { return "cond"; }

 private:
  Operands operands_;
  Inner branches_[2];
  Ref arena_;
};

class WhileStep final : public Step {
 public:
  explicit WhileStep(Build& b)
      : operands_(b),
        test_(b, "test"),
        body_(b, "body"),
        state_(b, operands_, operands_.out.size()),
        flag_(b.scratch(1)),
        arena_(b.scratch(std::max(test_.arena_bytes, body_.arena_bytes))) {}
  void run(const Place& place) override {
    for (size_t i = 0; i < operands_.in.size(); ++i)
      test_.inputs[i] = body_.inputs[i] = place(operands_.in[i]);
    test_.outputs[0] = place(flag_);
    for (bool turn = false;; turn = !turn) {
      test_.queue(place.stream, place(arena_));
      if (!read_flag(place, place(flag_))) break;
      state_.write(place, body_, turn);
      body_.queue(place.stream, place(arena_));
      State::read(state_.count(), body_, test_);
      State::read(state_.count(), body_, body_);
    }
    state_.keep(place, body_, operands_);
  }
  bool captures() const override { return false; }
  std::string name() const override { return "while_loop"; }

 private:
  Operands operands_;
  Inner test_, body_;
  State state_;
  Ref flag_, arena_;
};

// scan(carry..., xs..., captured...) -> carry..., ys..., and with "save" the carries before each round,
// stacked.
class ScanStep final : public Step {
 public:
  explicit ScanStep(Build& b)
      : operands_(b),
        body_(b, "body"),
        length_(b.node.integer("length")),
        reverse_(b.node.integer("reverse") != 0),
        save_(b.node.integer("save") != 0),
        carries_(static_cast<size_t>(b.node.integer("carries"))),
        xs_(static_cast<size_t>(b.node.integer("xs"))),
        state_(b, operands_, carries_),
        arena_(b.scratch(body_.arena_bytes)) {
    for (size_t i = 0; i < xs_; ++i) x_rows_.push_back(row_bytes(b.node.in(carries_ + i)));
    for (size_t i = carries_; i < b.node.output_count(); ++i) out_rows_.push_back(row_bytes(b.node.out(i)));
  }

  void run(const Place& place) override {
    for (size_t i = 0; i < operands_.in.size(); ++i) body_.inputs[i] = place(operands_.in[i]);
    for (int64_t round = 0; round < length_; ++round)
      queue_round(place, round, reverse_ ? length_ - 1 - round : round);
    state_.keep(place, body_, operands_);
  }
  bool captures() const override { return body_.program->captures(); }
  std::string name() const override { return concat("scan of ", length_); }

 private:
  static int64_t row_bytes(const Type& t) { return t.sizes[0] == 0 ? 0 : t.bytes() / t.sizes[0]; }
  CUdeviceptr row(const Place& place, const Ref& ref, int64_t bytes, int64_t t) const {
    return place(ref) + static_cast<CUdeviceptr>(bytes * t);
  }

  void queue_round(const Place& place, int64_t round, int64_t t) {
    const size_t ys = operands_.out.size() - carries_ * (save_ ? 2 : 1);
    state_.write(place, body_, round % 2 != 0);
    for (size_t i = 0; i < xs_; ++i)
      body_.inputs[carries_ + i] = row(place, operands_.in[carries_ + i], x_rows_[i], t);
    for (size_t i = 0; i < ys; ++i)
      body_.outputs[carries_ + i] = row(place, operands_.out[carries_ + i], out_rows_[i], t);
    for (size_t i = 0; save_ && i < carries_; ++i) {
      const int64_t bytes = out_rows_[ys + i];
      if (bytes > 0 && place(operands_.out[carries_ + ys + i]) != 0)
        check(driver().copy_on_device(row(place, operands_.out[carries_ + ys + i], bytes, t), body_.inputs[i],
                                      static_cast<size_t>(bytes), place.stream),
              "copy");
    }
    body_.queue(place.stream, place(arena_));
    State::read(carries_, body_, body_);
  }

  Operands operands_;
  Inner body_;
  int64_t length_;
  bool reverse_, save_;
  size_t carries_, xs_;
  State state_;
  Ref arena_;
  std::vector<int64_t> x_rows_, out_rows_;
};

void cond(Build& b) { b.add(std::make_unique<CondStep>(b)); }
void while_loop(Build& b) { b.add(std::make_unique<WhileStep>(b)); }
void scan(Build& b) { b.add(std::make_unique<ScanStep>(b)); }

}  // namespace

std::span<const Op> control_ops() {
  static const Op ops[] = {
      {.name = "cond", .lower = cond, .moves = true},
      {.name = "while_loop", .lower = while_loop, .moves = true},
      {.name = "scan", .lower = scan, .moves = true},
  };
  return ops;
}

}  // namespace plimsoll::cuda
