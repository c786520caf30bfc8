#include "device/cpu/gemm.h"
#include "device/cpu/onednn.h"
#include "device/cpu/thread_pool.h"
#include "device/device.h"
#include "plimsoll/error.h"

namespace plimsoll {

std::string describe_cpu() {
  std::string text;
#if PLIMSOLL_HAVE_ONEDNN
  const dnnl_version_t& v = *dnnl_version();
  text = concat("oneDNN ", v.major, ".", v.minor, onednn_uses_our_pool() ? ", " : " (on its own threads), ");
#else
  text = "no oneDNN, ";
#endif
  return text + concat("own kernels on Highway ", highway_target(), ", ", hardware_threads(), " threads");
}

}  // namespace plimsoll
