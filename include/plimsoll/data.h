// A Dataset describes where records come from and how they are put in order and into batches; read() makes a
// BatchReader that goes through them once. A Dataset is an immutable handle, cheap to copy, safe to use from
// several threads; nothing is read before read(), except headers.
//
//   Dataset train = Dataset::npy("x.npy", "y.npy").shuffle(42).batch(128).prefetch(2);
//   auto reader = train.read(epoch);
//   for (Batch batch; reader->next(batch);) step(batch.x[0], batch.y[0]);
//
// Sources are of two kinds. Those with random access (arrays, .npy, .npz, HDF5, image folders) know their
// number of records, can be shuffled as a whole, and resume in the middle of an epoch at once. Streams (CSV,
// compressed .npz members too large to unpack, generators) are read in order, are shuffled within a window,
// and resume by reading again what came before; in_memory() turns one into arrays.
//
// The order is a function of the seed and the epoch alone. Every buffer is bounded and charged to the account
// (Owner::data, Owner::staging); a reader holds at most prefetch + 2 batches, whatever the size of the
// source.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Types of one record's tensors, without the axis of the batch.
struct RecordTypes {
  std::vector<TensorType> x = {}, y = {}, weights = {};
  bool operator==(const RecordTypes&) const = default;
};

struct Record {
  std::vector<Tensor> x, y, weights;
  int64_t position = 0;  // in the epoch, from 0
  uint64_t random = 0;   // a number of its own for each (epoch, position): the seed for random changes
};

// Each tensor is (n, ...) and concrete; weights (one per output, (n,)) may be empty.
struct Batch {
  std::vector<Tensor> x, y, weights;
  int64_t size() const;  // n; 0 if there is no tensor
};

// Goes through a data set once. Used by one thread at a time; its own threads end with it.
class BatchReader {
 public:
  virtual ~BatchReader() = default;
  // False at the end. The batch's tensors are used again if nobody else holds them and they are large enough.
  // Throws what reading a record has thrown; then every further call does.
  virtual bool next(Batch& batch) = 0;
  // Bad records left out so far (see Dataset::skip_bad).
  virtual int64_t skipped() const = 0;
};

struct NpzOptions {
  std::vector<std::string> x = {"x"}, y = {"y"}, weights = {};
  // Compressed members of up to so many bytes in all are unpacked into memory; larger ones are a stream.
  int64_t unpack = int64_t{256} << 20;
};

struct CsvOptions {
  // Columns by name or, with or without a header, by number from 0 ("3"; "-1" is the last). A numbered
  // name must not occur in the header.
  std::vector<std::string> label = {};  // go to y, in this order; as one tensor: a scalar if it is one column
  std::vector<std::string> columns = {};  // go to x, in this order; none: all but label and weight
  std::string weight = {};                // goes to weights
  char delimiter = ',';
  bool header = true;
  DType dtype = DType::f32;        // of x
  DType label_dtype = DType::f32;  // of y
  // What an empty field, or one of NA, N/A, nan, null and the like, stands for. None: it is a bad record.
  std::optional<double> missing = {};
};

struct Hdf5Options {
  std::vector<std::string> x = {"x"}, y = {"y"}, weights = {};  // paths of data sets in the file
};

// As keras.utils.image_dataset_from_directory, whose names these are.
struct ImageOptions {
  std::vector<int64_t> size = {256, 256};  // height, width
  int64_t channels = 3;                    // 1, 3 or 4
  std::string labels = "inferred";         // or "none"
  std::string label_mode = "int";  // int32 (); "categorical": float32 (classes); "binary": float32 (1)
  std::vector<std::string> class_names = {};  // which folders, in which order; none: all, sorted
  std::string interpolation = "bilinear";     // or "nearest"
  bool crop_to_aspect_ratio = false;
  DType dtype = DType::f32;  // or u8, rounded: a quarter of the memory
  // The files are shuffled once by this seed, as Keras does it, before the split; without one they stay
  // sorted.
  std::optional<uint32_t> seed = {};
  double validation_split = 0;
  std::string subset = {};  // "training" or "validation"; needs validation_split
  int threads = 0;          // that decode; 0: one per processor
};

class Dataset {
 public:
  // From memory: x, y and weights with equal first axes. Holds the tensors, copies nothing.
  static Dataset arrays(std::vector<Tensor> x, std::vector<Tensor> y = {}, std::vector<Tensor> weights = {});
  // Files in NumPy's formats, read in place, record by record. Without y_path there is no y.
  static Dataset npy(const std::string& x_path, const std::string& y_path = {});
  static Dataset npz(const std::string& path, const NpzOptions& options = {});
  static Dataset csv(const std::string& path, const CsvOptions& options = {});
  // Data sets of an HDF5 file with equal first axes. libhdf5 runs in this process, one call at a time: a
  // crafted file can crash it, so open only files you trust.
  static Dataset hdf5(const std::string& path, const Hdf5Options& options = {});
  // JPEG and PNG files below `folder`; with inferred labels, one folder below it per class.
  static Dataset images(const std::string& folder, const ImageOptions& options = {});
  // A stream that a function makes: `open(epoch)` gives a function that fills in one record per call and
  // returns false after the last. It may be called from another thread than the reader's, never from two at
  // once.
  using Generator = std::function<bool(Record&)>;
  static Dataset generator(std::function<Generator(int64_t epoch)> open, RecordTypes types);

  // Order. These work on what stands before them: d.shuffle(1).take(100) takes another hundred each epoch,
  // d.take(100).shuffle(1) shuffles the first hundred. They count records, bad ones too.
  // window 0: any record can go anywhere (not for streams). With random access, windows of consecutive
  // records come in random order and are shuffled in themselves, which reads files in long runs; a stream
  // keeps `window` records and hands out a random one each time.
  Dataset shuffle(uint64_t seed, int64_t window = 0) const;
  Dataset take(int64_t count) const;    // the first `count`
  Dataset skip(int64_t count) const;    // all but the first `count`
  Dataset repeat(int64_t count) const;  // shuffled anew each time

  // Settings. Where they stand in the chain makes no difference.
  Dataset batch(int64_t size, bool drop_remainder = false) const;  // default: 32, false
  // Changes each record, after those changes named before. `change` must be a pure function: it is called
  // from `threads` threads at once (0: the reader's), and once on a record of zeros to learn the types it
  // makes.
  Dataset map(std::function<void(Record&)> change, int threads = 0) const;
  Dataset prefetch(int64_t batches) const;  // made ready ahead by another thread
  // A record that cannot be read (Error{bad_file}, {not_found}, {unsupported}) is left out and counted;
  // without this it ends the reading with its Error. Batches are full all the same: later records move up.
  Dataset skip_bad(bool skip = true) const;

  // Reads everything, now, into arrays. Settings but not order and maps are kept. `skipped`, if given,
  // receives the number of bad records left out. Throws Error{out_of_memory} if the account refuses.
  Dataset in_memory(int64_t* skipped = nullptr) const;

  bool random_access() const;
  // Not known: a stream before its end; batches also where bad records are left out.
  std::optional<int64_t> records() const;
  std::optional<int64_t> batches() const;
  int64_t batch_size() const;
  int64_t batches_held() const;  // by a reader at most, the one handed out with them
  // What a reader's threads take at most to decode: for images, whose files are looked at the first time.
  int64_t workspace() const;
  const RecordTypes& types() const;
  const std::vector<TensorType>& x_types() const { return types().x; }
  const std::vector<TensorType>& y_types() const { return types().y; }
  // Of an image folder: the names of the classes, in the order of their numbers.
  const std::vector<std::string>& class_names() const;
  // What it keeps in memory (arrays(), in_memory(), what was unpacked); none where records come from a file.
  std::vector<Tensor> tensors() const;

  // Starts to read epoch `epoch` at batch `first_batch` of it. Throws Error{invalid_argument} where a
  // stream is to be shuffled as a whole.
  std::unique_ptr<BatchReader> read(int64_t epoch = 0, int64_t first_batch = 0) const;

  struct Body;

 private:
  explicit Dataset(std::shared_ptr<const Body> body) : body_(std::move(body)) {}
  const Body& body() const;  // throws Error{invalid_argument} where it was moved away
  std::shared_ptr<const Body> body_;
};

}  // namespace plimsoll
#pragma GCC visibility pop
