#include "fault.h"

#include <string>

#include "libraries.h"

namespace plimsoll::cuda {
namespace {

// Results after which the context is unusable, as the driver's documentation has it: the device's memory is
// gone with it.
bool is_fatal(CUresult result) {
  switch (result) {
    case 4:    // CUDA_ERROR_DEINITIALIZED
    case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
    case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
    case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
    case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
    case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
    case 710:  // CUDA_ERROR_ASSERT
    case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
    case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
    case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    case 718:  // CUDA_ERROR_INVALID_PC
    case 719:  // CUDA_ERROR_LAUNCH_FAILED
    case 721:  // CUDA_ERROR_CONTAINED
    case 999:  // CUDA_ERROR_UNKNOWN
      return true;
    default: return false;
  }
}

void fill_in(plimsoll_error* error, int32_t kind, std::string_view message) {
  error->kind = kind;
  std::snprintf(error->message, sizeof error->message, "%.*s", static_cast<int>(message.size()),
                message.data());
}

// An Error's text begins with its place, which the engine says itself.
std::string_view without_place(std::string_view text) {
  const size_t end = text.find("] ");
  return text.starts_with('[') && end != text.npos ? text.substr(end + 2) : text;
}

}  // namespace

Fault::Fault(CUresult result, std::string_view place, std::string_view message)
    : Error(result == kOutOfMemory ? ErrorKind::out_of_memory : ErrorKind::device, place, message),
      lost_(is_fatal(result)) {}

void check_slow(CUresult result, const char* what) {
  const char *name = nullptr, *text = nullptr;
  driver().error_name(result, &name);
  driver().error_string(result, &text);
  throw Fault(result, "cuda",
              concat(std::string_view(what), ": ", std::string_view(text != nullptr ? text : "unknown"), " (",
                     std::string_view(name != nullptr ? name : std::to_string(result).c_str()), ")"));
}

int32_t report_current(plimsoll_error* error) noexcept {
  try {
    throw;
  } catch (const NodeError& e) {
    error->program = e.program;
    error->node = e.node;
    try {
      std::rethrow_exception(e.cause);
    } catch (...) {
      return report_current(error);
    }
  } catch (const Fault& e) {
    error->lost = e.lost() ? 1 : 0;
    fill_in(error, static_cast<int32_t>(e.kind()) + 1, without_place(e.what()));
  } catch (const Error& e) {
    fill_in(error, static_cast<int32_t>(e.kind()) + 1, without_place(e.what()));
  } catch (const std::bad_alloc&) {
    fill_in(error, PLIMSOLL_OUT_OF_MEMORY, "no memory on the host");
  } catch (const std::exception& e) {
    fill_in(error, PLIMSOLL_INTERNAL, e.what());
  } catch (...) {
    fill_in(error, PLIMSOLL_INTERNAL, "an unknown failure");
  }
  return error->kind;
}

}  // namespace plimsoll::cuda
