#include "doctor/formats/data_file.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "doctor/formats/hdf5_attributes.h"
#include "doctor/formats/hdf5_groups.h"
#include "doctor/formats/text_table.h"
#include "doctor/patience.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr size_t kLongestJson = 64u << 20, kLongestHeader = 100u << 20;

std::string cut_off(uint64_t promised, uint64_t size) {
  return concat("it is cut off: ", promised, " bytes are promised, ", size, " are there");
}

// A zip archive ends with a table of what it holds, and little behind it.
std::string check_zip(std::string_view bytes) {
  constexpr size_t kLongestTail = (1u << 16) + 64;
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kLongestTail));
  return contains(tail, "PK\x05\x06") ? "" : "it is cut off: a zip archive without its end";
}

// {'descr': '<f8', 'fortran_order': False, 'shape': (1000, 100), }
std::string check_npy(Bytes file) {
  const bool old = file.u8(6) == 1;
  const uint64_t begin = old ? 10 : 12, length = old ? file.u16(8) : file.u32(8);
  if (!file.has(begin, length)) return cut_off(begin + length, file.size());
  const std::string_view header = file.text(begin, length);
  const size_t descr = header.find("'descr': '"), shape = header.find("'shape': (");
  if (descr == std::string_view::npos || shape == std::string_view::npos) return "";  // of records
  const std::string_view type = header.substr(descr + 10, header.find('\'', descr + 10) - descr - 10);
  uint64_t bytes = 0;
  if (type.size() < 3 || contains(type, "O")) return "";  // pickled objects
  std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
  bytes *= type[1] == 'U' ? 4 : 1;
  const std::string_view sizes = header.substr(shape + 10, header.find(')', shape) - shape - 10);
  for (const std::string_view part : split(sizes, ",")) {
    uint64_t n = 0;
    if (trim(part).empty()) continue;
    std::from_chars(trim(part).data(), trim(part).data() + trim(part).size(), n);
    if (__builtin_mul_overflow(bytes, n, &bytes)) return "its shape is too large to be true";
  }
  return bytes > file.size() - begin - length ? cut_off(begin + length + bytes, file.size()) : "";
}

// A length, that many bytes of JSON with the place of each tensor, then the tensors.
std::string check_safetensors(Bytes file) {
  if (!file.has(0, 8)) return "it is cut off before its header";
  const uint64_t length = file.u64(0);
  if (length > kLongestHeader) return "its header cannot be understood (HeaderTooLarge)";
  if (!file.has(8, length)) return cut_off(8 + length, file.size());
  const nlohmann::json header = nlohmann::json::parse(file.text(8, length), nullptr, false);
  if (!header.is_object()) return "its header is no JSON (InvalidHeaderDeserialization)";
  uint64_t end = 0;
  for (const auto& [name, tensor] : header.items()) {
    if (!tensor.is_object() || !tensor.contains("data_offsets")) continue;
    const auto& offsets = tensor["data_offsets"];
    if (offsets.is_array() && offsets.size() == 2 && offsets[1].is_number_unsigned())
      end = std::max(end, offsets[1].get<uint64_t>());
  }
  return end > file.size() - 8 - length ? cut_off(8 + length + end, file.size()) : "";
}

// One or several members, each a compressed stream with its length behind it. What is longer than that is
// not read to its end.
std::string check_gzip(std::string_view bytes) {
  constexpr size_t kMost = 512u << 20, kStep = 1u << 20;
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return "";
  std::string out(kStep, '\0');
  size_t total = 0;
  int state = Z_OK;
  const Patience patience(std::chrono::milliseconds(400));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib reads it only
  size_t left = bytes.size();
  while (state == Z_OK && total < kMost && !patience.over()) {
    const size_t step = std::min<size_t>(left, 1u << 30) - stream.avail_in;
    stream.avail_in += static_cast<uInt>(step);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const size_t before = stream.avail_in;
    state = inflate(&stream, Z_NO_FLUSH);
    left -= before - stream.avail_in;
    total += out.size() - stream.avail_out;
    const bool more = state == Z_STREAM_END && left >= 18 && stream.next_in[0] == 0x1f;
    if (more) state = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (state == Z_BUF_ERROR) return "it is cut off in the midst of its compressed data";
  return state == Z_DATA_ERROR ? "its compressed data cannot be read (checksum or format)" : "";
}

std::string check_sqlite(Bytes file) {
  if (!file.has(0, 100)) return "it is cut off before its header ends";
  const Bytes big = file.with_endian(true);
  const uint64_t page = big.u16(16) == 1 ? 65536 : big.u16(16), count = big.u32(28);
  const bool counted = big.u32(24) == big.u32(92);  // else an old program wrote it last
  return counted && page * count > file.size() ? cut_off(page * count, file.size()) : "";
}

// A protobuf message is a row of fields, each with its length.
std::string check_protobuf(Bytes file) {
  const auto number = [&](uint64_t& at) -> uint64_t {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = file.u8(at++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail(ErrorKind::bad_file, "data", "no number");
  };
  for (uint64_t at = 0; at < file.size();) {
    const uint64_t kind = number(at) & 7;
    if (kind == 0)
      number(at);
    else if (kind == 1 || kind == 5)
      at += kind == 1 ? 8 : 4;
    else if (kind == 2) {
      const uint64_t length = number(at);
      if (!file.has(at, length)) return cut_off(at + length, file.size());
      at += length;
    } else
      return "it is no ONNX model, or damaged";
  }
  return "";
}

std::string check_json(std::string_view text) {
  if (text.size() > kLongestJson) return "";
  if (text.starts_with("\xef\xbb\xbf"))
    return "it begins with a byte order mark (BOM), which Python's json refuses";
  return nlohmann::json::accept(text) ? "" : "it is not JSON, or it is cut off";
}

// One value of JSON in each line.
std::string check_json_lines(std::string_view text) {
  if (text.size() > kLongestJson) return "";
  const std::vector<std::string_view> lines = split(text, "\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (trim(lines[i]).empty() || nlohmann::json::accept(lines[i])) continue;
    return i + 1 == lines.size() ? concat("it is cut off in line ", i + 1)
                                 : concat("line ", i + 1, " is not JSON");
  }
  return "";
}

std::string check_hdf5(Bytes file) {
  if (!looks_like_hdf5(file)) return "it is no HDF5 file";
  check_hdf5_end(file, file.size());
  check_hdf5_groups(file);
  return "";
}

std::string check_end(std::string_view bytes, std::string_view end) {
  return bytes.ends_with(end) ? "" : "it is cut off: its end is missing";
}

bool has_end(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

// What a download that failed leaves under any name.
std::string other_thing(std::string_view bytes) {
  const std::string text = lower_case(trim(bytes.substr(0, 256)).substr(0, 64));
  if (bytes.empty()) return "it is empty";
  if (text.starts_with("version https://git-lfs"))
    return "it is a pointer of Git LFS: the file itself was not downloaded";
  if (text.starts_with("<!doctype html") || text.starts_with("<html"))
    return "it is a web page (HTML), not the file";
  const std::string_view head = bytes.substr(0, 4096);
  if (head.size() > 16 && head.find_first_not_of('\0') == std::string_view::npos)
    return "it begins with zeros";
  return "";
}

// Not damaged, but not for the reader that its name suggests.
DataFile for_another_reader(std::string kind, std::string trouble, std::string fix, std::string error,
                            bool sure = true) {
  DataFile data{std::move(kind), std::move(trouble)};
  data.damaged = false;
  data.sure = sure;
  data.fix = std::move(fix);
  data.error = std::move(error);
  return data;
}

// What is there and what SciPy reads: version 5 is a row of elements, each with its length; 7.3 is HDF5.
DataFile inspect_matlab(Bytes file) {
  if (file.text().starts_with("MATLAB 7.3") || looks_like_hdf5(file))
    return for_another_reader(
        "a MATLAB file of version 7.3 (HDF5)", "scipy.io.loadmat does not read this version",
        "Read it with h5py.File(path), or pip install mat73; in MATLAB: save(..., '-v7')",
        "NotImplementedError: Please use HDF reader for matlab v7.3 files, e.g. h5py");
  if (!file.text().starts_with("MATLAB 5.0") || !file.has(0, 128)) return {"a MATLAB file", ""};
  const Bytes ordered = file.with_endian(file.text(126, 2) == "MI");
  for (uint64_t at = 128; file.has(at, 8);) {
    const uint64_t length = ordered.u32(at + 4);
    if (ordered.u32(at) > 255) break;  // a short one, which stands only inside of others
    if (!file.has(at + 8, length)) return {"a MATLAB file", cut_off(at + 8 + length, file.size())};
    at += 8 + length;
  }
  return {"a MATLAB file", ""};
}

// Records: a length, its checksum, so many bytes, their checksum.
std::string check_tfrecord(Bytes file) {
  uint64_t at = 0;
  while (at < file.size()) {
    const uint64_t length = file.has(at, 12) ? file.u64(at) : 0;
    if (!file.has(at, 12) || length > (uint64_t{1} << 40) || !file.has(at + 12, length + 4))
      return at == 0 && length > (1u << 30) ? "it does not begin with a record"
                                            : cut_off(at + 16 + length, file.size());
    at += 16 + length;
  }
  return "";
}

// Segments with their lengths up to the picture itself, which ends with a mark.
std::string check_jpeg(Bytes file) {
  uint64_t at = 2;
  while (file.has(at, 4) && file.u8(at) == 0xff && file.u8(at + 1) != 0xda)
    at += 2 + file.with_endian(true).u16(at + 2);
  constexpr std::string_view kEnd = "\xff\xd9";
  return at < file.size() && file.text().find(kEnd, at) != std::string_view::npos
             ? ""
             : "it is cut off: the mark of its end is missing";
}

// A picture under the name of another kind, which TensorFlow does not read under any name.
DataFile inspect_picture(Bytes file) {
  const std::string_view bytes = file.text();
  if (bytes.starts_with("\x89PNG"))
    return {"a picture (PNG)", check_end(bytes, std::string_view("IEND\xae\x42\x60\x82"))};
  if (bytes.starts_with("\xff\xd8")) return {"a picture (JPEG)", check_jpeg(file)};
  const bool webp = bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP");
  const std::string_view brand = bytes.substr(0, 12).size() == 12 ? bytes.substr(4, 8) : "";
  const std::string kind = webp                                                  ? "WebP"
                           : brand == "ftypheic" || brand == "ftypmif1"          ? "HEIC"
                           : brand == "ftypavif"                                 ? "AVIF"
                           : bytes.starts_with("II*") || bytes.starts_with("MM") ? "TIFF"
                                                                                 : "";
  if (kind.empty()) return {"a data file", ""};
  return for_another_reader(
      concat("a picture (", kind, ")"),
      concat("it is ", kind, " in spite of its name, which TensorFlow does not read"),
      "Convert it: PIL.Image.open(path).convert('RGB').save(path), or remove it.",
      "InvalidArgumentError: Unknown image file format. One of JPEG, PNG, GIF, BMP required", false);
}

// A workbook is a zip archive; what else has its name.
DataFile inspect_workbook(std::string_view bytes) {
  const std::string head = lower_case(bytes.substr(0, 4096));
  if (bytes.starts_with("PK\x03\x04")) return {"a workbook (.xlsx)", check_zip(bytes)};
  if (contains(head, "<html") || contains(head, "<table"))
    return for_another_reader("a workbook by its name", "it is a web page (HTML) with a table",
                              "pandas.read_html(path)[0]   # it is no Excel file, whatever its name says",
                              "ValueError: Excel file format cannot be determined");
  if (bytes.starts_with("\xd0\xcf\x11\xe0"))
    return for_another_reader("a workbook", "it is an old .xls, or it is locked with a password",
                              "pandas.read_excel(path, engine='xlrd'), or save it anew without a password",
                              "BadZipFile: File is not a zip file");
  return {"a workbook by its name", "it is no zip archive, as .xlsx files are"};
}

// What is compressed and does not say so in its name.
DataFile inspect_gzip(std::string_view bytes, std::string_view name) {
  const std::string trouble = check_gzip(bytes);
  if (trouble.empty() && has_end(name, {".csv", ".tsv"}))
    return for_another_reader("a compressed table (gzip)",
                              "its name does not say that it is compressed (gzip)",
                              "pandas.read_csv(path, compression='gzip'), or name it .csv.gz",
                              "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1");
  if (trouble.empty() && has_end(name, {".pkl", ".pickle"}))
    return for_another_reader("a compressed pickle (gzip)",
                              "pickle.load does not read what is compressed (gzip)",
                              "pickle.load(gzip.open(path)); joblib.load reads it as it is",
                              "UnpicklingError: invalid load key, '\\x1f'", false);
  return {"a compressed file (gzip)", trouble};
}

DataFile inspect(Bytes file, std::string_view name) {
  const std::string_view bytes = file.text();
  const bool torch = has_end(name, {".pt", ".pth", ".bin", ".ckpt"});
  const bool table = has_end(name, {".csv", ".tsv"});
  const bool known = torch || table ||
                     has_end(name, {".npy",   ".npz",    ".safetensors", ".parquet",  ".arrow",    ".feather",
                                    ".pkl",   ".pickle", ".joblib",      ".onnx",     ".h5",       ".hdf5",
                                    ".keras", ".zip",    ".png",         ".jpg",      ".jpeg",     ".sqlite",
                                    ".db",    ".wav",    ".mat",         ".tfrecord", ".tfrecords"});
  if (has_end(name, {".xlsx", ".xlsm"}) && !bytes.empty()) return inspect_workbook(bytes);
  if (const std::string other = other_thing(bytes); known && !other.empty()) return {"a data file", other};
  if (bytes.starts_with("\x1f\x8b")) return inspect_gzip(bytes, name);
  if (has_end(name, {".mat"})) return inspect_matlab(file);
  if (has_end(name, {".tfrecord", ".tfrecords"})) return {"a TFRecord file", check_tfrecord(file)};
  if (has_end(name, {".jpg", ".jpeg", ".png"})) return inspect_picture(file);
  if (bytes.starts_with("PK\x03\x04"))
    return {has_end(name, {".npz"}) ? "a NumPy archive (.npz)"
            : torch                 ? "a PyTorch file"
                                    : "a zip archive",
            check_zip(bytes)};
  if (bytes.starts_with("\x93NUMPY") && contains(bytes.substr(0, 128), "'descr': '|O'"))
    return for_another_reader("a NumPy array of Python's objects (.npy)", "numpy.load refuses it as it is",
                              "numpy.load(path, allow_pickle=True)   # only if you trust who made it",
                              "ValueError: Object arrays cannot be loaded when allow_pickle=False", false);
  if (bytes.starts_with("\x93NUMPY")) return {"a NumPy array (.npy)", check_npy(file)};
  if (has_end(name, {".npz"})) return {"a NumPy archive (.npz)", "it is no zip archive"};
  if (has_end(name, {".npy"})) return {"a NumPy array (.npy)", "it does not begin as one (magic string)"};
  if (has_end(name, {".safetensors"})) return {"a safetensors file", check_safetensors(file)};
  if (bytes.starts_with("PAR1")) return {"a Parquet table", check_end(bytes, "PAR1")};
  if (bytes.starts_with("ARROW1")) return {"an Arrow table", check_end(bytes, "ARROW1")};
  if (bytes.starts_with("SQLite format 3")) return {"an SQLite database", check_sqlite(file)};
  if (has_end(name, {".onnx"})) return {"an ONNX model", check_protobuf(file)};
  if (has_end(name, {".h5", ".hdf5"})) return {"an HDF5 file", check_hdf5(file)};
  if (has_end(name, {".jsonl", ".ndjson"})) return {"a file of JSON lines", check_json_lines(bytes)};
  if (has_end(name, {".json", ".ipynb"})) return {"a JSON file", check_json(bytes)};
  if (table) return inspect_text_table(bytes, has_end(name, {".tsv"}) ? '\t' : ',');
  const bool pickle = bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
  if (pickle && has_end(name, {".pkl", ".pickle", ".joblib"})) return {"a pickle", check_end(bytes, ".")};
  if (bytes.starts_with("RIFF") && file.has(0, 12))
    return {"a RIFF file",
            file.u32(4) > file.size() - 8 ? cut_off(uint64_t{file.u32(4)} + 8, file.size()) : ""};
  return {known ? "a data file" : "", ""};
}

}  // namespace

DataFile inspect_data(Bytes file, std::string_view name) {
  try {
    return inspect(file, lower_case(name));
  } catch (const Error& e) {
    return {"a data file", concat("it is damaged: ", e.what())};
  }
}

}  // namespace plimsoll::doctor
