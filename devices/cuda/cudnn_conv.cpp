// Convolutions by cuDNN's graph interface: a graph of one operation, and the fastest of the first engines
// that its heuristic names and that fit. Tensors are channels-last; cuDNN wants kernels as (K, window..., C /
// groups), ours are (window..., C / groups, K): they are turned in scratch.
#include <algorithm>
#include <array>
#include <memory>

#include "conv.h"
#include "libraries.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

constexpr int64_t kMostWorkspace = 256 << 20;
constexpr size_t kCandidates = 8;

// Of cudnnBackendDescriptorType_t, cudnnBackendAttributeType_t and cudnnBackendAttributeName_t.
enum Kind {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristic = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17
};
enum AttributeType {
  kIsHandle = 0,
  kIsDataType = 1,
  kIsInt64 = 3,
  kIsFloat = 4,
  kIsPointer = 6,
  kIsConvolutionMode = 7,
  kIsHeuristicMode = 8,
  kIsNumericalNote = 11,
  kIsObject = 15
};
enum Attribute {
  kConvComputeType = 100,
  kConvMode = 101,
  kConvDilations = 102,
  kConvStrides = 103,
  kConvPostPaddings = 104,
  kConvPrePaddings = 105,
  kConvSpatialDims = 106,
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kGraphHandle = 800,
  kGraphOps = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNote = 1303
};
constexpr int kModeFallback = 2, kModeA = 3;                             // cudnnBackendHeurMode_t
constexpr int kTensorCore = 0, kDownConvert = 1, kNotDeterministic = 4;  // cudnnBackendNumericalNote_t

void check_dnn(int status, ErrorKind kind = ErrorKind::unsupported) {
  if (status != 0) fail(kind, "cuda", "cuDNN: status ", status);
}

class Object {
 public:
  explicit Object(Kind kind) { check_dnn(cudnn()->object_create(kind, &get_)); }
  ~Object() { cudnn()->object_destroy(get_); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  DnnObject get() const { return get_; }
  void set(Attribute name, AttributeType type, int64_t count, const void* values) {
    check_dnn(cudnn()->set(get_, name, type, count, values));
  }
  void set(Attribute name, AttributeType type, const auto& value) { set(name, type, 1, &value); }
  void set(Attribute name, const Sizes& values) {
    set(name, kIsInt64, static_cast<int64_t>(values.size()), values.data());
  }
  void set(Attribute name, const Object& object) { set(name, kIsObject, 1, &object.get_); }
  bool finalize() { return cudnn()->finalize(get_) == 0; }
  void finish() { check_dnn(cudnn()->finalize(get_)); }

 private:
  DnnObject get_ = nullptr;
};

int data_type(DType t) { return t == DType::f16 ? 2 : t == DType::bf16 ? 9 : 0; }

// A channels-last tensor (n, spatial..., c); cuDNN names its axes n, c, spatial...
void describe(Object& tensor, int64_t id, DType t, int64_t n, int64_t c, const Sizes& spatial) {
  Sizes sizes = {n, c}, strides(2 + spatial.size(), 1);
  sizes.insert(sizes.end(), spatial.begin(), spatial.end());
  int64_t stride = c;
  for (size_t d = sizes.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  strides[0] = stride;
  const int64_t bytes = stride * n * static_cast<int64_t>(size_of(t));
  tensor.set(kTensorType, kIsDataType, data_type(t));
  tensor.set(kTensorSizes, sizes);
  tensor.set(kTensorStrides, strides);
  tensor.set(kTensorAlignment, kIsInt64, std::min<int64_t>(16, bytes & -bytes));
  tensor.set(kTensorId, kIsInt64, id);
  tensor.finish();
}

constexpr std::array<int64_t, 3> kIds = {'x', 'w', 'y'};

// A plan ready to run.
class ConvPlan {
 public:
  ConvPlan(plimsoll_device& device, ConvKind kind, const ConvGeometry& g, DType t) : handle_(device.dnn()) {
    const auto padded = [](Sizes list, int64_t value) {  // cuDNN has no convolution over one axis
      if (list.size() == 1) list.insert(list.begin(), value);
      return list;
    };
    describe(x_, kIds[0], t, g.batch, g.channels, padded(g.in, 1));
    describe(w_, kIds[1], t, g.filters, g.group_channels(), padded(g.window, 1));
    describe(y_, kIds[2], t, g.batch, g.filters, padded(g.out, 1));
    constexpr int kFloat = 0, kCrossCorrelation = 1;
    conv_.set(kConvComputeType, kIsDataType, kFloat);
    conv_.set(kConvMode, kIsConvolutionMode, kCrossCorrelation);
    conv_.set(kConvSpatialDims, kIsInt64, static_cast<int64_t>(padded(g.in, 1).size()));
    conv_.set(kConvPrePaddings, padded(g.low, 0));
    conv_.set(kConvPostPaddings, padded(g.high, 0));
    conv_.set(kConvStrides, padded(g.stride, 1));
    conv_.set(kConvDilations, padded(g.dilation, 1));
    conv_.finish();
    make_operation(kind);
    const DnnObject ops[] = {operation_->get()};
    graph_.set(kGraphHandle, kIsHandle, handle_);
    graph_.set(kGraphOps, kIsObject, 1, ops);
    graph_.finish();
    exact_ = t == DType::f32 && !device.options.tf32;
    deterministic_ = device.options.deterministic;
    key_ = key_of(kind, g, t);
    Tuning* const tuning = device.tuning.get();
    const std::optional<size_t> known = tuning != nullptr ? tuning->known(key_, kCandidates) : std::nullopt;
    wanted_ = known ? *known + 1 : tuning != nullptr && tuning->has_time() ? kCandidates : 1;
    if (!choose(kModeA) && !choose(kModeFallback))
      fail(ErrorKind::unsupported, "cuda", "cuDNN has no engine for this convolution");
    if (known || plans_.size() == 1) {
      plans_.erase(plans_.begin(), plans_.end() - 1);
      chosen_ = 0;
    }
    tuning_ = tuning;
  }

  int64_t workspace() const {
    int64_t most = 0;
    for (const Candidate& one : plans_) most = std::max(most, one.workspace);
    return most;
  }

  void run(CUstream stream, std::array<void*, 3> pointers, void* workspace) {
    pack_ = std::make_unique<Object>(kVariantPack);
    pack_->set(kPackIds, kIsInt64, 3, kIds.data());
    pack_->set(kPackPointers, kIsPointer, 3, pointers.data());
    pack_->set(kPackWorkspace, kIsPointer, workspace);
    pack_->finish();
    check_dnn(cudnn()->set_stream(handle_, stream), ErrorKind::device);
    const auto execute = [&](size_t i) {
      check_dnn(cudnn()->execute(handle_, plans_[i].plan->get(), pack_->get()), ErrorKind::device);
    };
    if (!chosen_) chosen_ = tuning_->choose(key_, plans_.size(), stream, execute);
    execute(*chosen_);
  }

 private:
  struct Candidate {
    std::unique_ptr<Object> config, plan;
    int64_t workspace;
  };

  static std::string key_of(ConvKind kind, const ConvGeometry& g, DType t) {
    std::string key = concat("conv", static_cast<int>(kind), "_", t, "_", g.batch, "_", g.channels, "_",
                             g.filters, "_", g.groups);
    for (const Sizes* const list : {&g.in, &g.window, &g.stride, &g.low, &g.dilation})
      for (const int64_t size : *list) key += concat("_", size);
    return key;
  }

  void make_operation(ConvKind kind) {
    // Alpha, beta, convolution, then the tensors, in the order of cuDNN's attributes.
    struct Form {
      Kind kind;
      int first, w, x, y;
    };
    static constexpr Form forms[] = {{kForward, 700, 703, 704, 705},
                                     {kBackwardData, 706, 709, 710, 711},
                                     {kBackwardFilter, 712, 715, 716, 717}};
    const Form& form = forms[static_cast<int>(kind)];
    const float one = 1, zero = 0;
    operation_ = std::make_unique<Object>(form.kind);
    const auto name = [](int number) { return static_cast<Attribute>(number); };
    operation_->set(name(form.first), kIsFloat, one);
    operation_->set(name(form.first + 1), kIsFloat, zero);
    operation_->set(name(form.first + 2), conv_);
    operation_->set(name(form.w), w_);
    operation_->set(name(form.x), x_);
    operation_->set(name(form.y), y_);
    operation_->finish();
  }

  // Whether an engine computes what was asked for.
  bool allows(const Object& config) const {
    Object engine(kEngine);
    DnnObject got = engine.get();
    int64_t count = 0;
    if (cudnn()->get(config.get(), kConfigEngine, kIsObject, 1, &count, &got) != 0) return false;
    std::array<int, 16> notes{};
    if (cudnn()->get(engine.get(), kEngineNote, kIsNumericalNote, notes.size(), &count, notes.data()) != 0)
      return false;
    for (size_t i = 0; i < static_cast<size_t>(std::clamp<int64_t>(count, 0, notes.size())); ++i) {
      if (deterministic_ && notes[i] == kNotDeterministic) return false;
      if (exact_ && (notes[i] == kTensorCore || notes[i] == kDownConvert)) return false;
    }
    return true;
  }

  bool choose(int mode) {
    constexpr size_t kMost = 16;
    Object heuristic(kHeuristic);
    heuristic.set(kHeuristicGraph, graph_);
    heuristic.set(kHeuristicMode, kIsHeuristicMode, mode);
    if (!heuristic.finalize()) return false;
    std::vector<std::unique_ptr<Object>> configs;
    std::array<DnnObject, kMost> list{};
    for (size_t i = 0; i < kMost; ++i) {
      configs.push_back(std::make_unique<Object>(kEngineConfig));
      list[i] = configs.back()->get();
    }
    int64_t count = 0;
    if (cudnn()->get(heuristic.get(), kHeuristicResults, kIsObject, kMost, &count, list.data()) != 0)
      return false;
    for (size_t i = 0; i < static_cast<size_t>(std::min<int64_t>(count, kMost)) && plans_.size() < wanted_;
         ++i)
      if (allows(*configs[i])) plan_with(std::move(configs[i]));
    return !plans_.empty();
  }

  void plan_with(std::unique_ptr<Object> config) {
    auto plan = std::make_unique<Object>(kPlan);
    plan->set(kPlanHandle, kIsHandle, handle_);
    plan->set(kPlanConfig, *config);
    if (!plan->finalize()) return;
    int64_t count = 0, workspace = 0;
    if (cudnn()->get(plan->get(), kPlanWorkspace, kIsInt64, 1, &count, &workspace) != 0 ||
        workspace > kMostWorkspace)
      return;
    plans_.push_back({std::move(config), std::move(plan), workspace});
  }

  cudnnHandle_t handle_;
  Object x_{kTensor}, w_{kTensor}, y_{kTensor}, conv_{kConvolution}, graph_{kGraph};
  std::unique_ptr<Object> operation_, pack_;
  std::string key_;
  size_t wanted_ = 1;  // candidates
  std::vector<Candidate> plans_;
  Tuning* tuning_ = nullptr;
  std::optional<size_t> chosen_;  // none before the first run
  bool exact_ = false;            // float32, not TF32
  bool deterministic_ = false;    // the same bits in every run
};

class ConvStep final : public Step {
 public:
  ConvStep(std::unique_ptr<ConvPlan> plan, std::array<Ref, 3> tensors, Ref workspace)
      : plan_(std::move(plan)), tensors_(tensors), workspace_(workspace) {}
  void run(const Place& place) override {
    std::array<void*, 3> pointers{};
    for (size_t i = 0; i < 3; ++i) pointers[i] = reinterpret_cast<void*>(place(tensors_[i]));
    plan_->run(place.stream, pointers, reinterpret_cast<void*>(place(workspace_)));
  }
  std::string name() const override { return "cudnn conv"; }

 private:
  std::unique_ptr<ConvPlan> plan_;
  std::array<Ref, 3> tensors_;
  Ref workspace_;
};

// (rest..., k) to (k, rest...), or back.
void turn_kernel(Build& b, DType t, int64_t rest, int64_t filters, bool back, Ref from, Ref to) {
  const int64_t inner = back ? rest : filters, outer = back ? filters : rest;
  b.each(parameters({moved(t), moved(t)}, 1), rest * filters,
         concat("arg1[at] = arg0[at % ", outer, " * ", inner, " + at / ", outer, "];\n"), {from, to});
}
// (rest..., k) to (k, rest...), times scale (k).
void turn_scaled(Build& b, DType t, int64_t rest, int64_t filters, Ref from, Ref scale, Ref to) {
  b.each(parameters({stored(t), stored(t), stored(t)}, 2), rest * filters,
         concat("const index k = at / ", rest, ";\narg2[at] = ",
                store_element(concat(load_element(concat("arg0[at % ", rest, " * ", filters, " + k]"), t),
                                     " * ", load_element("arg1[k]", t)),
                              t),
                ";\n"),
         {from, scale, to});
}

bool cudnn_may(const ConvGeometry& g, DType t) {
  if (t == DType::f64 || g.rank > 3) return false;
  for (size_t i = 0; i < g.rank; ++i)
    if (g.in_dilation[i] != 1 || g.low[i] < 0 || g.high[i] < 0 || g.in[i] == 0 || g.out[i] == 0) return false;
  return g.batch > 0 && g.channels > 0 && g.filters > 0;
}

// Points of y if there is as much padding behind x as before it.
int64_t points_if_even(const ConvGeometry& g, size_t i) {
  return (g.in[i] + 2 * g.low[i] - (g.window[i] - 1) * g.dilation[i] - 1) / g.stride[i] + 1;
}

// cuDNN's engines are wrong where the padding before and behind x differs. Often what is behind is not
// needed, as the last window ends before it; else x is padded in scratch.
bool make_even(ConvGeometry& g) {
  bool even = true;
  for (size_t i = 0; i < g.rank; ++i) even = even && points_if_even(g, i) == g.out[i];
  for (size_t i = 0; i < g.rank; ++i) {
    if (!even) {
      g.in[i] += g.low[i] + g.high[i];
      g.low[i] = 0;
    }
    g.high[i] = g.low[i];
  }
  return even;
}

// x with zeros around it, or what is inside of a padded x.
void copy_padded(Build& b, DType t, const ConvGeometry& g, const ConvGeometry& padded, bool inside, Ref from,
                 Ref to) {
  Sizes sizes = {g.batch}, larger = {g.batch};
  sizes.insert(sizes.end(), g.in.begin(), g.in.end());
  larger.insert(larger.end(), padded.in.begin(), padded.in.end());
  sizes.push_back(g.channels);
  larger.push_back(g.channels);
  const Sizes own = row_major(sizes), strides = row_major(larger);
  int64_t start = 0;
  std::string at = "0", within = "true";
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t low = d > 0 && d <= g.rank ? g.low[d - 1] : 0;
    start += low * strides[d];
    at += concat(" + ((int64_t)i", d, " - ", low, ") * ", own[d]);
    within += concat(" && (int64_t)i", d, " >= ", low, " && (int64_t)i", d, " < ", low + sizes[d]);
  }
  const std::string body = inside ? concat("arg1[at] = arg0[", position(start, strides), "];\n")
                                  : concat("arg1[at] = ", within, " ? arg0[", at, "] : 0;\n");
  const Sizes& walked = inside ? sizes : larger;
  b.each(parameters({moved(t), moved(t)}, 1), product(walked), coordinates(walked, "at", "index") + body,
         {from, to});
}

std::unique_ptr<ConvPlan> find_plan(Build& b, ConvKind kind, const ConvGeometry& g) {
  try {
    return std::make_unique<ConvPlan>(b.device, kind, g, b.node.out(0).dtype);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

bool add_cudnn(Build& b, ConvKind kind, const ConvGeometry& g, const std::array<Ref, 3>& tensors) {
  if (!cudnn_may(g, b.node.out(0).dtype) || cudnn() == nullptr || b.device.dnn() == nullptr) return false;
  std::unique_ptr<ConvPlan> plan = find_plan(b, kind, g);
  if (plan == nullptr) return false;
  const Ref workspace = b.scratch(plan->workspace());
  b.add(std::make_unique<ConvStep>(std::move(plan), tensors, workspace));
  return true;
}

bool add_cudnn_conv(Build& b, ConvKind kind, const ConvGeometry& given, const ConvEnds& ends) {
  const DType t = b.node.out(0).dtype;
  if (!cudnn_may(given, t) || cudnn() == nullptr || b.device.dnn() == nullptr) return false;
  ConvGeometry g = given;
  const bool even = make_even(g);
  std::unique_ptr<ConvPlan> plan = find_plan(b, kind, g);
  if (plan == nullptr) return false;  // a plain kernel can
  const int64_t size = static_cast<int64_t>(size_of(t)), rest = product(g.window) * g.group_channels();
  const Ref workspace = b.scratch(plan->workspace());
  const Ref padded = b.scratch(even ? 0 : g.batch * product(g.in) * g.channels * size);
  const bool filter = kind == ConvKind::grad_filter, input = kind == ConvKind::grad_input;
  const Ref own_x = input ? b.out(0) : b.in(0), x = even ? own_x : padded;
  if (!even && !input) copy_padded(b, t, given, g, false, own_x, padded);
  std::vector<size_t> weights = {1};
  if (ends.scale >= 0) weights.push_back(static_cast<size_t>(ends.scale));
  const Ref kernel =
      filter ? b.scratch(rest * g.filters * size) : b.prepared(rest * g.filters * size, weights, [&](Ref to) {
        if (ends.scale < 0)
          turn_kernel(b, t, rest, g.filters, false, b.in(1), to);
        else
          turn_scaled(b, t, rest, g.filters, b.in(1), b.in(weights[1]), to);
      });
  const Ref y = filter ? b.in(1) : input ? b.in(0) : b.out(0);
  b.add(std::make_unique<ConvStep>(std::move(plan), std::array{x, kernel, y}, workspace));
  if (filter) turn_kernel(b, t, rest, g.filters, true, kernel, b.out(0));
  if (!even && input) copy_padded(b, t, given, g, true, padded, own_x);
  return true;
}

}  // namespace plimsoll::cuda
