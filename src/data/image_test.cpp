#include "data/image.h"

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <cstdio>
// clang-format off: jpeglib.h needs cstdio.
#include <jpeglib.h>
// clang-format on
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "data/image_folder.h"
#include "memory/account.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

std::vector<uint8_t> pixels(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> all;
  for (int64_t i = 0; i < height * width * channels; ++i)
    all.push_back(static_cast<uint8_t>(i * i / 7 + 3 * i));
  return all;
}

std::string jpeg(int width, int height, bool progressive = false) {
  const std::vector<uint8_t> from = pixels(height, width, 3);
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < height; ++y) {
    JSAMPROW row = const_cast<uint8_t*>(from.data()) + static_cast<ptrdiff_t>(y) * width * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string text(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return text;
}

void append_png(png_structp png, png_bytep bytes, size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(bytes), count);
}

std::string png(int width, int height, int channels, bool interlaced = false) {
  const std::vector<uint8_t> from = pixels(height, width, channels);
  const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  std::string text;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &text, append_png, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8,
               colours[channels], interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; ++y)
    rows.push_back(const_cast<uint8_t*>(from.data()) + static_cast<ptrdiff_t>(y) * width * channels);
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return text;
}

std::vector<uint8_t> decoded(const std::string& bytes, int64_t channels, int64_t height, int64_t width) {
  Scratch scratch;
  const auto image = open_image(bytes, "test", channels, scratch);
  std::vector<uint8_t> to(static_cast<size_t>(height * width * channels));
  resize_image(*image, {.height = height, .width = width}, DType::u8, to.data(), scratch);
  return to;
}

TEST(Image, PngPixelsComeBack) {
  for (const bool interlaced : {false, true}) {
    for (const int channels : {1, 3, 4}) {
      EXPECT_EQ(decoded(png(31, 17, channels, interlaced), channels, 17, 31), pixels(17, 31, channels));
    }
  }
}

TEST(Image, ProgressiveJpegEqualsBaseline) {
  EXPECT_EQ(decoded(jpeg(50, 40, true), 3, 20, 30), decoded(jpeg(50, 40), 3, 20, 30));
}

TEST(Image, EveryCutIsABadFile) {
  for (const std::string& whole : {jpeg(16, 16), jpeg(16, 16, true), png(9, 9, 3), png(9, 9, 3, true)}) {
    for (size_t size = 0; size < whole.size() - 14; ++size) {  // the last bytes only mark the end
      try {
        decoded(whole.substr(0, size), 3, 16, 16);
        ADD_FAILURE() << size << " of " << whole.size();
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_file) << e.what();
      }
    }
  }
}

TEST(Image, RandomChangesNeverCrash) {
  std::mt19937 random(1);
  for (const std::string& whole : {jpeg(33, 20), jpeg(33, 20, true), png(20, 20, 4), png(20, 20, 1, true)}) {
    for (int round = 0; round < 300; ++round) {
      std::string changed = whole;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
      try {
        decoded(changed, 3, 8, 8);
      } catch (const Error&) {
        // As it should be.
      }
    }
  }
}

TEST(Image, ASizeThatNoMemoryHoldsIsRefused) {
  std::string huge = jpeg(16, 16);
  const size_t frame = huge.find("\xFF\xC0");
  for (const size_t at : {5, 6, 7, 8}) huge[frame + at] = '\xFF';
  EXPECT_THROW(decoded(huge, 3, 8, 8), Error);
}

TEST(Image, CoefficientsOfAProgressiveImageAreCharged) {
  const std::string bytes = jpeg(1000, 1000, true);
  account::reset_peak();
  const int64_t before = account::used();
  decoded(bytes, 3, 8, 8);
  EXPECT_GT(account::peak() - before, 1000 * 1000 * 3);
  EXPECT_EQ(account::used(), before);
}

TEST(ImageFolder, ShufflesAsNumPyDoes) {
  // numpy.random.RandomState(seed).shuffle(list(range(n)))
  EXPECT_EQ(numpy_shuffle(10, 3), (std::vector<size_t>{5, 4, 1, 2, 9, 6, 7, 0, 3, 8}));
  const std::vector<size_t> longer = numpy_shuffle(300, 7);
  EXPECT_EQ(std::vector<size_t>(longer.begin(), longer.begin() + 5),
            (std::vector<size_t>{254, 57, 150, 66, 114}));
}

class Folder : public ::testing::Test {
 protected:
  ~Folder() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  std::filesystem::path folder_ = concat(::testing::TempDir(), "image_test_", ::getpid());
};

TEST_F(Folder, ThreadsDecodeTheSameInTheSameOrder) {
  for (int i = 0; i < 40; ++i) {
    write(concat(i % 2 ? "b/" : "a/", i, ".jpg"), i % 10 == 9 ? "no image" : jpeg(20 + i, 30));
  }
  const auto read = [&](int threads) {
    const Dataset data = Dataset::images(folder_.string(), {.size = {8, 8}, .threads = threads});
    return data.shuffle(1).skip_bad().batch(7).in_memory();
  };
  const Dataset one = read(1);
  EXPECT_EQ(one.records(), 36);
  Batch want, got;
  ASSERT_TRUE(one.batch(100).read()->next(want));
  for (const int threads : {2, 4}) {
    ASSERT_TRUE(read(threads).batch(100).read()->next(got));
    EXPECT_EQ(0, std::memcmp(want.x[0].data(), got.x[0].data(), 36 * 8 * 8 * 3 * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(want.y[0].data(), got.y[0].data(), 36 * sizeof(int32_t)));
  }
}

TEST_F(Folder, WhatAThreadTakesToDecodeIsKnownFromTheFirstBytes) {
  const std::string files[] = {jpeg(900, 700),    jpeg(400, 300, true), png(640, 480, 3),
                               png(300, 200, 4), png(500, 400, 3, true)};
  for (const int64_t channels : {1, 3}) {
    for (const std::string& bytes : files) {
      write("a/1.jpg", bytes);
      const ImageOptions options{.size = {64, 48}, .channels = channels, .threads = 1};
      const int64_t known = Dataset::images(folder_.string(), options).workspace();
      account::reset_peak();
      const int64_t before = account::used();
      Scratch scratch;
      std::vector<float> to(static_cast<size_t>(64 * 48 * channels));
      std::memcpy(scratch.file.resize(static_cast<int64_t>(bytes.size())), bytes.data(), bytes.size());
      const auto image = open_image(scratch.file.text(), "test", channels, scratch);
      resize_image(*image, {.height = 64, .width = 48}, DType::f32, to.data(), scratch);
      const int64_t taken = account::peak() - before;
      EXPECT_GE(known, taken) << channels << " channels, " << bytes.size() << " bytes";
      EXPECT_LE(known, taken + taken / 2 + (192 << 10)) << channels << " channels, " << bytes.size() << " bytes";
    }
  }
}

TEST_F(Folder, AReaderTakesNoMoreThanWasKnownWhateverTheOrder) {
  for (int i = 1; i <= 12; ++i) write(concat("a/", i, ".jpg"), png(100 * i, 40 * i, 3, i % 2 == 0));
  const Dataset data = Dataset::images(folder_.string(), {.size = {8, 8}, .threads = 2}).shuffle(3).batch(4);
  const int64_t known = data.workspace();
  account::reset_peak();
  const int64_t before = account::used(), batch = 4 * 8 * 8 * 3 * static_cast<int64_t>(sizeof(float));
  Batch got;
  const auto reader = data.read();
  while (reader->next(got)) {
  }
  EXPECT_LE(account::peak() - before, known + data.batches_held() * (batch + 4096));
}

TEST_F(Folder, OptionsThatMakeNoSenseAreRefused) {
  const auto open = [&](const ImageOptions& options) { return Dataset::images(folder_.string(), options); };
  EXPECT_THROW(open({}), Error);  // no folder
  write("a/1.png", png(4, 4, 3));
  EXPECT_NO_THROW(open({}));
  for (const ImageOptions& options :
       {ImageOptions{.size = {0, 4}}, ImageOptions{.size = {4}}, ImageOptions{.channels = 2},
        ImageOptions{.labels = "some"}, ImageOptions{.label_mode = "binary"},
        ImageOptions{.class_names = {"c"}}, ImageOptions{.interpolation = "lanczos"},
        ImageOptions{.dtype = DType::f64}, ImageOptions{.validation_split = 0.5},
        ImageOptions{.validation_split = 0.5, .subset = "test"}, ImageOptions{.threads = -1}}) {
    EXPECT_THROW(open(options), Error);
  }
}

}  // namespace
}  // namespace plimsoll::data
