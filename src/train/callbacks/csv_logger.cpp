// CSVLogger: a line of numbers per epoch.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plimsoll/callbacks.h"
#include "plimsoll/error.h"
#include "train/callbacks/monitor.h"

namespace plimsoll {
namespace {

Tensor as_tensor(const std::string& text) {
  return Tensor::from_bytes(DType::u8, Shape{std::ssize(text)}, text.data());
}

std::string as_text(const Tensor& t) {
  return {static_cast<const char*>(t.data()), static_cast<size_t>(t.shape().elements())};
}

class CsvCallback final : public Callback {
 public:
  CsvCallback(std::string path, const CSVLoggerOptions& o) : path_(std::move(path)), o_(o) {}
  bool wants_batch_logs() const override { return false; }
  void on_train_begin() override {
    text_.clear();
    keys_.clear();
    if (o_.append) {
      std::ifstream before(path_, std::ios::binary);
      text_.assign(std::istreambuf_iterator<char>(before), {});
    }
    header_ = text_.empty();
    open(o_.append ? std::ios::app : std::ios::trunc);
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    std::string line = keys_.empty() ? begin(logs) : "";
    line += std::to_string(epoch);
    for (const std::string& key : keys_) {
      const double* value = find_log(logs, key);
      line += o_.separator + (value != nullptr ? shortest(*value) : "NA");
    }
    write(line + "\r\n");
  }
  void on_train_end(const Logs&) override { file_.close(); }

  // The lines so far too: a run that is started again has emptied the file.
  CallbackState state() const override {
    std::string keys;
    for (const std::string& key : keys_) keys += key + "\n";
    return {{double(header_)}, {as_tensor(text_), as_tensor(keys)}};
  }
  void set_state(const CallbackState& s) override {
    if (s.numbers.size() != 1 || s.tensors.size() != 2) return;
    header_ = s.numbers[0] != 0;
    const std::string keys = as_text(s.tensors[1]);
    for (size_t at = 0, end = 0; (end = keys.find('\n', at)) != std::string::npos; at = end + 1)
      keys_.push_back(keys.substr(at, end - at));
    text_.clear();
    open(std::ios::trunc);
    write(as_text(s.tensors[0]));
  }

 private:
  void open(std::ios::openmode mode) {
    file_.close();
    file_.clear();
    file_.open(path_, mode | std::ios::binary);
    if (!file_) fail(ErrorKind::io, "CSVLogger", "cannot write ", path_);
  }
  void write(const std::string& text) {
    text_ += text;
    file_ << text << std::flush;
    if (!file_) fail(ErrorKind::io, "CSVLogger", "cannot write ", path_);
  }
  // The names of the columns, as Keras: sorted; where no validation has run yet, columns for it are kept.
  std::string begin(const Logs& logs) {
    bool validated = false;
    for (const auto& [name, value] : logs) {
      keys_.push_back(name);
      validated = validated || name.starts_with("val_");
    }
    std::sort(keys_.begin(), keys_.end());
    const size_t own = keys_.size();
    for (size_t i = 0; i < own && !validated; ++i) keys_.push_back("val_" + keys_[i]);
    if (!header_) return "";
    std::string line = "epoch";
    for (const std::string& key : keys_) line += o_.separator + key;
    return line + "\r\n";
  }
  std::string path_;
  CSVLoggerOptions o_;
  std::ofstream file_;
  bool header_ = true;
  std::string text_;  // of the file
  std::vector<std::string> keys_;
};

}  // namespace

CallbackPtr CSVLogger(const std::string& filename, const CSVLoggerOptions& o) {
  return std::make_shared<CsvCallback>(filename, o);
}

}  // namespace plimsoll
