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

// ---- kernels

using Kernel = void (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                        void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                        void*, void*);
constexpr size_t kArguments = 26, kStack = 64 << 10;

struct Function {
  Kernel kernel;
  emulated_thread* state;
  int arguments;
};

void call(Kernel k, void** p) {
  k(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15],
    p[16], p[17], p[18], p[19], p[20], p[21], p[22], p[23], p[24], p[25]);
}

// One block: every thread runs up to a barrier, then all go on.
struct Block {
  Function f;
  void* arguments[kArguments]{};
  std::vector<ucontext_t> threads;
  std::vector<char> done;
  std::vector<char> stacks;
  ucontext_t scheduler{};
  unsigned current = 0;

  void run(unsigned count) {
    threads.resize(count);
    done.assign(count, 0);
    stacks.resize(count * kStack);
    for (unsigned t = 0; t < count; ++t) {
      getcontext(&threads[t]);
      threads[t].uc_stack.ss_sp = stacks.data() + t * kStack;
      threads[t].uc_stack.ss_size = kStack;
      threads[t].uc_link = &scheduler;
      makecontext(&threads[t], reinterpret_cast<void (*)()>(&Block::enter), 0);
    }
    for (bool left = true; left;) {
      left = false;
      for (current = 0; current < count; ++current) {
        if (done[current]) continue;
        f.state->threadIdx = {current, 0, 0};
        swapcontext(&scheduler, &threads[current]);
        left = left || !done[current];
      }
    }
  }
  static void enter();
  static void barrier();
};
Block block;

void Block::enter() {
  call(block.f.kernel, block.arguments);
  block.done[block.current] = 1;
}
void Block::barrier() {
  const unsigned me = block.current;
  swapcontext(&block.threads[me], &block.scheduler);
  block.f.state->threadIdx = {me, 0, 0};
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
    counts += "extern \"C\" { extern const int k" + std::to_string(kernel) + "_arguments; const int k" +
              std::to_string(kernel) + "_arguments = " + std::to_string(commas + 1) + "; }\n";
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
int cuDriverGetVersion(int* v) { return *v = 13000, 0; }
int cuGetErrorName(int, const char** s) { return *s = "EMULATED", 0; }
int cuGetErrorString(int, const char** s) { return *s = "an emulated error", 0; }
int cuDeviceGetCount(int* n) { return *n = 1, 0; }
int cuDeviceGet(int* d, int) { return *d = 0, 0; }
int cuDeviceGetName(char* s, int n, int) {
  return std::snprintf(s, static_cast<size_t>(n), "emulated GPU"), 0;
}
int cuDeviceGetAttribute(int* v, int which, int) {
  return *v = which == kMajor ? 9 : which == kMinor ? 0 : 4, 0;
}
int cuDevicePrimaryCtxRetain(CUcontext* c, int) { return *c = reinterpret_cast<CUcontext>(1), 0; }
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
                   unsigned, unsigned, CUstream, void** arguments, void**) {
  if (gx == 0 || gy == 0 || threads == 0 || threads > 1024) return 1;
  block.f = *reinterpret_cast<Function*>(function);
  block.f.state->barrier = Block::barrier;
  block.f.state->gridDim = {gx, gy, 1};
  for (int n = 0; n < block.f.arguments; ++n) block.arguments[n] = *static_cast<void**>(arguments[n]);
  for (unsigned y = 0; y < gy; ++y)
    for (unsigned x = 0; x < gx; ++x) {
      block.f.state->blockIdx = {x, y, 0};
      block.run(threads);
    }
  return 0;
}
int cuGraphInstantiateWithFlags(CUgraphExec*, CUgraph, unsigned long long) { return 801; }
int cuGraphLaunch(CUgraphExec, CUstream) { return 801; }
int cuGraphExecDestroy(CUgraphExec) { return 0; }
int cuGraphDestroy(CUgraph) { return 0; }

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
                   LtObject of_b, const void*, const void*, LtObject, void* d, LtObject of_d,
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
        if (how.epilogue & 4) sum += load(how.bias, i, out.type);
        if (how.epilogue & 2) sum = sum > 0 ? sum : 0;
        store(d, z * out.stride + j * out.ld + i, out.type, sum);
      }
  return 0;
}

}  // extern "C"
