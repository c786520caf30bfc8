// NVIDIA's driver, NVRTC and cuBLASLt as far as the plug-in uses them, on the processor: kernels are compiled
// by the system's C++ compiler, and the threads of a block are coroutines that meet at barriers. Slow, but it
// runs what the plug-in generates on machines without a GPU. There is no cuDNN: convolutions run by the plain
// kernel.
#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "api.h"
#include "shim.h"

using namespace plimsoll::cuda;

#undef threadIdx
#undef blockIdx
#undef gridDim

namespace {

// What a test wants another machine to be: EMULATED_DRIVER=12040, EMULATED_CAPABILITY=35, EMULATED_FULL=1,
// EMULATED_PROCESSES=3124:1000000,881:20000.
int asked(const char* name, int otherwise) {
  const char* const set = std::getenv(name);
  return set != nullptr ? std::atoi(set) : otherwise;
}

// ---- kernels

using Kernel = void (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                        void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                        void*, void*);
constexpr size_t kArguments = 26, kStack = 64 << 10;

struct Function {
  Kernel kernel;
  emulated_thread* state;
  int arguments;  // 0: one, of any size
};

void call(Kernel k, void** p) {
  k(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15],
    p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23], p[24], p[25]);
}

// Where threads wait for each other; those that have ended are not waited for.
struct Gate {
  unsigned waiting = 0, alive = 0, turn = 0;

  void open_if_all() {
    if (waiting == 0 || waiting < alive) return;
    waiting = 0;
    ++turn;
  }
};

// Blocks that run at the same time: every thread goes on until it waits for others.
struct Blocks {
  Function f;
  void* arguments[kArguments]{};
  unsigned first = 0, columns = 1, threads = 1;  // number of the first block; of a row of the grid
  std::vector<ucontext_t> contexts;
  std::vector<char> done;
  std::vector<char> stacks;
  std::vector<std::vector<char>> shared;
  std::vector<std::vector<unsigned long long>> lanes;
  std::vector<Gate> blocks, warps;
  ucontext_t scheduler{};
  unsigned current = 0;

  unsigned warps_per_block() const { return (threads + 31) / 32; }
  Gate& block_gate() { return blocks[current / threads]; }
  Gate& warp_gate() { return warps[current / threads * warps_per_block() + current % threads / 32]; }

  void run(unsigned from, unsigned count, unsigned per_block, unsigned row, unsigned shared_bytes) {
    first = from, columns = row, threads = per_block;
    const unsigned all = count * threads;
    contexts.resize(all);
    done.assign(all, 0);
    stacks.resize(all * kStack);
    shared.assign(count, std::vector<char>(shared_bytes, char(0xA5)));
    lanes.assign(count, std::vector<unsigned long long>(4 * threads));
    blocks.assign(count, {});
    warps.assign(count * warps_per_block(), {});
    for (current = 0; current < all; ++current) {
      ++block_gate().alive;
      ++warp_gate().alive;
      ucontext_t& c = contexts[current];
      getcontext(&c);
      c.uc_stack.ss_sp = stacks.data() + current * kStack;
      c.uc_stack.ss_size = kStack;
      c.uc_link = &scheduler;
      makecontext(&c, reinterpret_cast<void (*)()>(&Blocks::enter), 0);
    }
    for (bool left = true; left;) {
      left = false;
      for (current = 0; current < all; ++current) {
        if (done[current]) continue;
        show_thread();
        swapcontext(&scheduler, &contexts[current]);
        left = left || !done[current];
      }
    }
  }
  void show_thread() const {
    const unsigned block = current / threads, number = first + block;
    f.state->threadIdx = {current % threads, 0, 0};
    f.state->blockIdx = {number % columns, number / columns, 0};
    f.state->shared = const_cast<char*>(shared[block].data());
    f.state->lane = const_cast<unsigned long long*>(lanes[block].data());
  }
  static void enter();
  static void yield();
  static void meet(Gate& gate) {
    const unsigned turn = gate.turn;
    ++gate.waiting;
    gate.open_if_all();
    while (gate.turn == turn) yield();
  }
  static void barrier();
  static void warp_barrier();
};
Blocks running;

void Blocks::enter() {
  call(running.f.kernel, running.arguments);
  running.done[running.current] = 1;
  for (Gate* const gate : {&running.block_gate(), &running.warp_gate()}) {
    --gate->alive;
    gate->open_if_all();
  }
}
void Blocks::yield() {
  const unsigned me = running.current;
  swapcontext(&running.contexts[me], &running.scheduler);
}
void Blocks::barrier() { meet(running.block_gate()); }
void Blocks::warp_barrier() { meet(running.warp_gate()); }

bool prepare_launch(CUfunction function, unsigned gx, unsigned gy, unsigned threads, void** arguments) {
  if (gx == 0 || gy == 0 || threads == 0 || threads > 1024) return false;
  running.f = *reinterpret_cast<Function*>(function);
  running.f.state->barrier = Blocks::barrier;
  running.f.state->warp_barrier = Blocks::warp_barrier;
  running.f.state->yield = Blocks::yield;
  running.f.state->gridDim = {gx, gy, 1};
  if (running.f.arguments == 0) running.arguments[0] = arguments[0];
  for (int n = 0; n < running.f.arguments; ++n) running.arguments[n] = *static_cast<void**>(arguments[n]);
  return true;
}

// ---- NVRTC

// Declares for each kernel how many arguments it has, which a launch does not say.
std::string argument_counts(const std::string& text) {
  std::string counts;
  int kernel = 0;
  for (size_t at = text.find(" KERNEL("); at != text.npos; at = text.find(" KERNEL(", at + 1)) {
    const size_t end = text.find(')', at);
    const auto commas = std::count(text.begin() + static_cast<ptrdiff_t>(at),
                                   text.begin() + static_cast<ptrdiff_t>(end), ',');
    const bool by_value = text.compare(at, 17, " KERNEL(BY_VALUE(") == 0;
    counts += "extern \"C\" { extern const int k" + std::to_string(kernel) + "_arguments; const int k" +
              std::to_string(kernel) + "_arguments = " + std::to_string(by_value ? 0 : commas + 1) + "; }\n";
    ++kernel;
  }
  return counts;
}

struct Source {
  std::string text, code, log;
};

void replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at != text.npos) text.replace(at, from.size(), to);
}

std::string compiled(Source& source) {
  static int number = 0;
  const std::string base =
      "/tmp/plimsoll_emulator_" + std::to_string(getpid()) + "_" + std::to_string(number++);
  std::string text = source.text;
  replace(text, "asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(h));", "x = widen_half(h);");
  replace(text, "asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));", "h = narrow_half(x);");
  std::ofstream(base + ".cpp") << "#include \"" EMULATOR_SHIM "\"\n" << text << argument_counts(text);
  const std::string command =
      "c++ -std=c++20 -O1 -w -ffp-contract=off -fno-math-errno -fpermissive -shared -fPIC -Wl,-Bsymbolic "
      "-o " +
      base + ".so " + base + ".cpp 2> " + base + ".log";
  const bool ok = std::system(command.c_str()) == 0;
  std::ifstream log(base + ".log");
  source.log.assign(std::istreambuf_iterator<char>(log), {});
  unlink((base + ".cpp").c_str());
  unlink((base + ".log").c_str());
  return ok ? base + ".so" : "";
}

// ---- cuBLASLt

struct Lt {
  int type = 0;
  int64_t rows = 0, columns = 0, ld = 0, stride = 0;
  int32_t batch = 1;
  int32_t transposed[2] = {0, 0}, epilogue = 1;
  const void* bias = nullptr;
};
Lt* lt(LtObject object) { return reinterpret_cast<Lt*>(object); }

float widen(uint16_t h, int type) {
  return type == kReal16F ? widen_half(h) : bits_as<float>(uint32_t{h} << 16);
}
double load(const void* from, int64_t i, int type) {
  if (type == kReal64F) return static_cast<const double*>(from)[i];
  if (type == kReal32F) return static_cast<const float*>(from)[i];
  return widen(static_cast<const uint16_t*>(from)[i], type);
}
void store(void* to, int64_t i, int type, double value) {
  const float f = static_cast<float>(value);
  if (type == kReal64F)
    static_cast<double*>(to)[i] = value;
  else if (type == kReal32F)
    static_cast<float*>(to)[i] = f;
  else if (type == kReal16F)
    static_cast<uint16_t*>(to)[i] = narrow_half(f);
  else {
    const uint32_t bits = bits_as<uint32_t>(f);
    static_cast<uint16_t*>(to)[i] =
        static_cast<uint16_t>(f != f ? bits >> 16 | 0x40 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* v) { return *v = asked("EMULATED_DRIVER", 13000), 0; }
int cuGetErrorName(int, const char** s) { return *s = "EMULATED", 0; }
int cuGetErrorString(int, const char** s) { return *s = "an emulated error", 0; }
int cuDeviceGetCount(int* n) { return *n = 1, 0; }
int cuDeviceGet(int* d, int) { return *d = 0, 0; }
int cuDeviceGetName(char* s, int n, int) {
  return std::snprintf(s, static_cast<size_t>(n), "emulated GPU"), 0;
}
int cuDeviceGetAttribute(int* v, int which, int) {
  const int capability = asked("EMULATED_CAPABILITY", 90);
  return *v = which == kMajor            ? capability / 10
              : which == kMinor          ? capability % 10
              : which == kSharedPerBlock ? 227 << 10
                                         : 8,
         0;
}
int cuDeviceGetPCIBusId(char* s, int n, int) {
  return std::snprintf(s, static_cast<size_t>(n), "0000:19:00.0"), 0;
}
int cuDevicePrimaryCtxRetain(CUcontext* c, int) {
  if (asked("EMULATED_FULL", 0) != 0) return kOutOfMemory;
  return *c = reinterpret_cast<CUcontext>(1), 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxPushCurrent_v2(CUcontext) { return 0; }
int cuCtxPopCurrent_v2(CUcontext*) { return 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = size_t{1} << 32, 0; }
int cuMemAlloc_v2(CUdeviceptr* p, size_t n) {
  void* const bytes = std::aligned_alloc(256, (n + 255) / 256 * 256);
  if (bytes == nullptr) return kOutOfMemory;
  std::memset(bytes, 0xA5, n);  // nobody may count on zeros
  return *p = reinterpret_cast<CUdeviceptr>(bytes), 0;
}
int cuMemFree_v2(CUdeviceptr p) { return std::free(reinterpret_cast<void*>(p)), 0; }
int cuMemAllocHost_v2(void** p, size_t n) { return *p = std::malloc(n), 0; }
int cuMemFreeHost(void* p) { return std::free(p), 0; }
int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t n, CUstream) {
  return std::memcpy(reinterpret_cast<void*>(to), from, n), 0;
}
int cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t n, CUstream) {
  return std::memcpy(to, reinterpret_cast<void*>(from), n), 0;
}
int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream) {
  return std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n), 0;
}
int cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream) {
  return std::memset(reinterpret_cast<void*>(p), v, n), 0;
}
int cuStreamCreate(CUstream* s, unsigned) { return *s = reinterpret_cast<CUstream>(1), 0; }
int cuStreamDestroy_v2(CUstream) { return 0; }
int cuStreamSynchronize(CUstream) { return 0; }
int cuStreamWaitEvent(CUstream, CUevent, unsigned) { return 0; }
// Nothing is captured here: PLIMSOLL_CUDA=no_graphs.
int cuStreamBeginCapture_v2(CUstream, int) { return 801; }
int cuStreamEndCapture(CUstream, CUgraph* g) { return *g = nullptr, 801; }
int cuEventCreate(CUevent* e, unsigned) { return *e = reinterpret_cast<CUevent>(1), 0; }
int cuEventDestroy_v2(CUevent) { return 0; }
int cuEventRecord(CUevent, CUstream) { return 0; }
int cuEventSynchronize(CUevent) { return 0; }
int cuEventElapsedTime(float* ms, CUevent, CUevent) { return *ms = 1, 0; }
int cuModuleLoadData(CUmodule* m, const void* code) {
  void* const library = dlopen(static_cast<const char*>(code), RTLD_NOW | RTLD_LOCAL);
  unlink(static_cast<const char*>(code));
  return *m = static_cast<CUmodule>(library), library == nullptr ? 200 : 0;
}
int cuModuleUnload(CUmodule m) { return dlclose(m), 0; }
int cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  auto* const found = new Function{reinterpret_cast<Kernel>(dlsym(m, name)),
                                   static_cast<emulated_thread*>(dlsym(m, "emulated")), 0};
  if (const void* const count = dlsym(m, (std::string(name) + "_arguments").c_str()))
    found->arguments = *static_cast<const int*>(count);
  return *f = reinterpret_cast<CUfunction>(found), found->kernel == nullptr ? 500 : 0;
}
int cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned, unsigned threads, unsigned,
                   unsigned, unsigned shared, CUstream, void** arguments, void**) {
  if (!prepare_launch(function, gx, gy, threads, arguments)) return 1;
  for (unsigned block = 0; block < gx * gy; ++block) running.run(block, 1, threads, gx, shared);
  return 0;
}
int cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned, unsigned threads,
                              unsigned, unsigned, unsigned shared, CUstream, void** arguments) {
  if (!prepare_launch(function, gx, gy, threads, arguments)) return 1;
  running.run(0, gx * gy, threads, gx, shared);
  return 0;
}
int cuFuncSetAttribute(CUfunction, int, int) { return 0; }
int cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long) { return 801; }
int cuGraphLaunch(CUgraphExec, CUstream) { return 801; }
int cuGraphExecDestroy(CUgraphExec) { return 0; }
int cuGraphDestroy(CUgraph) { return 0; }

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, NvmlDevice* d) {
  return *d = reinterpret_cast<NvmlDevice>(1), std::strcmp(bus, "0000:19:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice, unsigned* count, NvmlProcess* list) {
  const unsigned most = *count;
  *count = 0;
  const char* rest = std::getenv("EMULATED_PROCESSES");
  while (rest != nullptr && *rest != 0 && *count < most) {
    char* end = nullptr;
    NvmlProcess& p = list[(*count)++];
    p = {static_cast<unsigned>(std::strtoul(rest, &end, 10)), 0, 0, 0};
    p.bytes = std::strtoull(end + 1, &end, 10);
    rest = *end == ',' ? end + 1 : end;
  }
  return 0;
}

int nvrtcGetNumSupportedArchs(int* n) { return *n = 3, 0; }
int nvrtcGetSupportedArchs(int* list) { return list[0] = 75, list[1] = 90, list[2] = 120, 0; }
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
int nvrtcCreateProgram(nvrtcProgram* p, const char* text, const char*, int, const char* const*,
                       const char* const*) {
  return *p = reinterpret_cast<nvrtcProgram>(new Source{text, "", ""}), 0;
}
int nvrtcDestroyProgram(nvrtcProgram* p) { return delete reinterpret_cast<Source*>(*p), 0; }
int nvrtcCompileProgram(nvrtcProgram p, int, const char* const*) {
  auto* const source = reinterpret_cast<Source*>(p);
  source->code = compiled(*source);
  return source->code.empty() ? 6 : 0;
}
int nvrtcGetCUBINSize(nvrtcProgram p, size_t* n) {
  return *n = reinterpret_cast<Source*>(p)->code.size() + 1, 0;
}
int nvrtcGetCUBIN(nvrtcProgram p, char* to) {
  return std::strcpy(to, reinterpret_cast<Source*>(p)->code.c_str()), 0;
}
int nvrtcGetProgramLogSize(nvrtcProgram p, size_t* n) {
  return *n = reinterpret_cast<Source*>(p)->log.size() + 1, 0;
}
int nvrtcGetProgramLog(nvrtcProgram p, char* to) {
  return std::strcpy(to, reinterpret_cast<Source*>(p)->log.c_str()), 0;
}

size_t cublasLtGetVersion() { return 130000; }
int cublasLtCreate(cublasLtHandle_t* h) { return *h = reinterpret_cast<cublasLtHandle_t>(1), 0; }
int cublasLtDestroy(cublasLtHandle_t) { return 0; }
int cublasLtMatrixLayoutCreate(LtObject* o, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  auto* const made = new Lt;
  made->type = type;
  made->rows = static_cast<int64_t>(rows);
  made->columns = static_cast<int64_t>(columns);
  made->ld = ld;
  return *o = reinterpret_cast<LtObject>(made), 0;
}
int cublasLtMatrixLayoutDestroy(LtObject o) { return delete lt(o), 0; }
int cublasLtMatrixLayoutSetAttribute(LtObject o, int which, const void* value, size_t n) {
  return std::memcpy(which == kLayoutBatchCount ? static_cast<void*>(&lt(o)->batch) : &lt(o)->stride, value,
                     n),
         0;
}
int cublasLtMatmulDescCreate(LtObject* o, int, int) { return *o = reinterpret_cast<LtObject>(new Lt), 0; }
int cublasLtMatmulDescDestroy(LtObject o) { return delete lt(o), 0; }
int cublasLtMatmulDescSetAttribute(LtObject o, int which, const void* value, size_t n) {
  if (which == kDescTransA) std::memcpy(&lt(o)->transposed[0], value, n);
  if (which == kDescTransB) std::memcpy(&lt(o)->transposed[1], value, n);
  if (which == kDescEpilogue) std::memcpy(&lt(o)->epilogue, value, n);
  if (which == kDescBiasPointer) std::memcpy(&lt(o)->bias, value, n);
  return 0;
}
int cublasLtMatmulPreferenceCreate(LtObject* o) { return *o = reinterpret_cast<LtObject>(new Lt), 0; }
int cublasLtMatmulPreferenceDestroy(LtObject o) { return delete lt(o), 0; }
int cublasLtMatmulPreferenceSetAttribute(LtObject, int, const void*, size_t) { return 0; }
int cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, LtObject, LtObject, LtObject, LtObject, LtObject,
                                   LtObject, int, LtHeuristic* found, int* count) {
  return found->workspace = 256, *count = 1, 0;
}
int cublasLtMatmul(cublasLtHandle_t, LtObject desc, const void*, const void* a, LtObject of_a, const void* b,
                   LtObject of_b, const void* beta, const void* c, LtObject, void* d, LtObject of_d,
                   const LtAlgorithm*, void*, size_t, CUstream) {
  const Lt &x = *lt(of_a), &y = *lt(of_b), &out = *lt(of_d), &how = *lt(desc);
  const int64_t k = how.transposed[0] ? x.rows : x.columns;
  for (int64_t z = 0; z < out.batch; ++z)
    for (int64_t j = 0; j < out.columns; ++j)
      for (int64_t i = 0; i < out.rows; ++i) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += load(a, z * x.stride + (how.transposed[0] ? i * x.ld + p : p * x.ld + i), x.type) *
                 load(b, z * y.stride + (how.transposed[1] ? p * y.ld + j : j * y.ld + p), y.type);
        // beta is 0 or 1, in float or double
        const int64_t at = z * out.stride + j * out.ld + i;
        if (*static_cast<const float*>(beta) != 0 ||
            (out.type == kReal64F && *static_cast<const double*>(beta) != 0))
          sum += load(c, at, out.type);
        if (how.epilogue & 4) sum += load(how.bias, i, out.type);
        if (how.epilogue & 2) sum = sum > 0 ? sum : 0;
        store(d, at, out.type, sum);
      }
  return 0;
}

}  // extern "C"
