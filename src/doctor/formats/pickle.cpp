// Follows the opcodes of Python's pickletools, protocols 0 to 5.
#include "doctor/formats/pickle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kMostOpcodes = 1u << 20, kMostPickles = 8, kMostTexts = 64;
constexpr size_t kLongestName = 300;  // longer texts are data

// How an opcode's argument lies behind it.
enum class Argument { none, bytes, line, two_lines, text, blob };

struct Opcode {
  Argument argument = Argument::none;
  unsigned width = 0;  // of the argument, or of the length before it
};

std::optional<Opcode> opcode(char c) {
  switch (c) {
    case 'K':
    case 'h':
    case 'q':
    case '\x80':
    case '\x82': return Opcode{Argument::bytes, 1};
    case 'M':
    case '\x83': return Opcode{Argument::bytes, 2};
    case 'J':
    case 'j':
    case 'r':
    case '\x84': return Opcode{Argument::bytes, 4};
    case 'G':
    case '\x95': return Opcode{Argument::bytes, 8};
    case 'I':
    case 'L':
    case 'F':
    case 'S':
    case 'V':
    case 'P':
    case 'g':
    case 'p': return Opcode{Argument::line, 0};
    case 'c':
    case 'i': return Opcode{Argument::two_lines, 0};
    case '\x8c': return Opcode{Argument::text, 1};
    case 'X': return Opcode{Argument::text, 4};
    case '\x8d': return Opcode{Argument::text, 8};
    case 'U': return Opcode{Argument::text, 1};
    case 'T': return Opcode{Argument::text, 4};
    case 'C':
    case '\x8a': return Opcode{Argument::blob, 1};
    case 'B':
    case '\x8b': return Opcode{Argument::blob, 4};
    case '\x8e':
    case '\x96': return Opcode{Argument::blob, 8};
    default: break;
  }
  constexpr std::string_view kBare =
      "(0.12N}]l\x85\x86\x87\x88\x89tRbaesudo)Q\x81\x8f\x90\x91\x92\x93\x94\x97\x98";
  return kBare.find(c) != std::string_view::npos ? std::optional(Opcode{}) : std::nullopt;
}

class Reader {
 public:
  explicit Reader(Bytes file) : file_(file) {}

  PickleContents read() {
    try {
      for (size_t count = 0; count < kMostOpcodes && step(); ++count) {
      }
    } catch (const Error&) {  // cut off: what was seen counts
    }
    result_.read = at_;
    return std::move(result_);
  }

 private:
  // A line without its end; the place is moved behind it.
  std::string line(uint64_t& at) const {
    const std::string_view rest = file_.from(at).text();
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) fail(ErrorKind::bad_file, "pickle", "a line without an end");
    at += end + 1;
    return std::string(rest.substr(0, end));
  }

  bool step() {
    const char c = static_cast<char>(file_.u8(at_));
    const std::optional<Opcode> known = opcode(c);
    if (!known) return false;
    uint64_t at = at_ + 1;
    std::string first, second;
    uint64_t number = 0;
    if (known->argument == Argument::bytes) {
      number = file_.number(at, known->width);
      at += known->width;
    } else if (known->argument == Argument::line) {
      first = line(at);
    } else if (known->argument == Argument::two_lines) {
      first = line(at);
      second = line(at);
    } else if (known->argument != Argument::none) {
      const uint64_t length = file_.number(at, known->width);
      const std::string_view text = file_.text(at + known->width, length);
      if (known->argument == Argument::text && length <= kLongestName) first = text;
      at += known->width + length;
    }
    at_ = at;
    if (!begun_ && c != '\x80' && c != '\x95') {  // the first after PROTO and FRAME
      begun_ = true;
      result_.is_object = c == 'c' || c == '\x8c';
    }
    act(c, known->argument, std::move(first), std::move(second), number);
    return c != '.';
  }

  void act(char c, Argument argument, std::string first, std::string second, uint64_t number) {
    switch (c) {
      case 'c':
      case 'i': return ask(first, second), push("");
      case '\x93': {  // the two texts before it
        const size_t n = texts_.size();
        if (n >= 2) ask(texts_[n - 2], texts_[n - 1]);
        return push("");
      }
      case '\x94': return remember(memoized_++);
      case 'q':
      case 'r': return remember(number);
      case 'p': return remember(read_number(first));
      case 'h':
      case 'j': return push(recall(number));
      case 'g': return push(recall(read_number(first)));
      case 'Q': return take_storage();
      case '(': texts_.clear(); return;
      case 'S':
      case 'V': return push(first);
      case '\x80':
      case '\x95': return;
      default: break;
    }
    push(argument == Argument::text ? std::move(first) : "");
  }

  static uint64_t read_number(const std::string& text) {
    uint64_t value = 0;
    for (const char c : text)
      value = is_digit(c) && value < (1u << 30) ? 10 * value + static_cast<uint64_t>(c - '0') : value;
    return value;
  }
  void push(std::string text) {
    if (texts_.size() >= kMostTexts) texts_.erase(texts_.begin(), texts_.begin() + kMostTexts / 2);
    texts_.push_back(std::move(text));
  }
  // Texts only; what is not remembered is none.
  void remember(uint64_t index) {
    if (!texts_.empty() && !texts_.back().empty()) memo_[index] = texts_.back();
  }
  std::string recall(uint64_t index) const {
    const auto found = memo_.find(index);
    return found == memo_.end() ? "" : found->second;
  }
  void ask(const std::string& module, const std::string& name) {
    if (!module.empty() && !name.empty() && seen_.emplace(module, name).second)
      result_.names.emplace_back(module, name);
  }
  // ('storage', FloatStorage, '0', 'cuda:0', 12): where PyTorch keeps a tensor's numbers.
  void take_storage() {
    const bool storage = std::find(texts_.begin(), texts_.end(), "storage") != texts_.end();
    for (const std::string& text : texts_)
      result_.on_gpu |= storage && (text == "cuda" || text.starts_with("cuda:"));
    texts_.clear();
  }

  Bytes file_;
  uint64_t at_ = 0;
  bool begun_ = false;
  std::vector<std::string> texts_;  // pushed since the last mark; empty ones stand for other things
  std::map<uint64_t, std::string> memo_;
  uint64_t memoized_ = 0;
  std::set<std::pair<std::string, std::string>> seen_;
  PickleContents result_;
};

// The short text that follows a key: an attribute of an object that is pickled, also where opcodes cannot be
// followed.
std::string text_behind(Bytes file, std::string_view key) {
  const size_t found = file.text().rfind(key);
  if (found == std::string_view::npos) return "";
  try {
    uint64_t at = found + key.size();
    const uint8_t memo = file.u8(at);  // MEMOIZE, BINPUT, LONG_BINPUT
    at += memo == 0x94 ? 1 : memo == 'q' ? 2 : memo == 'r' ? 5 : 0;
    const bool brief = file.u8(at) == 0x8c;
    if (!brief && file.u8(at) != 'X') return "";
    const uint64_t length = file.number(at + 1, brief ? 1 : 4);
    return length < 40 ? std::string(file.text(at + (brief ? 2 : 5), length)) : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

PickleContents read_pickle(Bytes file) {
  PickleContents contents = Reader(file).read();
  contents.scikit_learn = text_behind(file, "_sklearn_version");
  return contents;
}

PickleContents read_pickles(Bytes file) {
  PickleContents all;
  for (size_t i = 0; i < kMostPickles && all.read < file.size(); ++i) {
    const Bytes rest = file.from(all.read);
    if (rest.u8(0) != 0x80) break;
    PickleContents one = read_pickle(rest);
    all.names.insert(all.names.end(), one.names.begin(), one.names.end());
    all.on_gpu |= one.on_gpu;
    if (all.scikit_learn.empty()) all.scikit_learn = one.scikit_learn;
    if (one.read == 0) break;
    all.read += one.read;
  }
  return all;
}

}  // namespace plimsoll::doctor
