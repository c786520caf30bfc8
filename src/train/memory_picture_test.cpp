#include "train/memory_picture.h"

#include <gtest/gtest.h>

#include "plimsoll/memory_report.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

Picture example() {
  return {
      .title = "<a & b>",
      .spans = {{.layer = "conv<1>", .what = "conv float32(4, 8)", .bytes = 60 << 20, .first = 0, .last = 3},
                {.layer = "dense", .what = "relu", .bytes = 1 << 20, .first = 2, .last = 2, .again = true},
                {.layer = "dense", .what = "scratch", .bytes = 4, .first = 3, .last = 3, .scratch = true}},
      .steps = {"a/one", "b/two", "c/three", "d/four"},
      .arena = 64 << 20,
      .line = 70 << 20};
}

size_t count(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++n;
  return n;
}

TEST(MemoryPicture, ShowsBandsTheLineAndWhatRunsAgain) {
  const std::string svg = picture_svg(example());
  EXPECT_EQ(count(svg, "<polygon"), 3u);
  EXPECT_NE(svg.find("line (what it leaves for the arena) 70.0 MiB"), svg.npos);
  EXPECT_EQ(count(svg, "class=\"again\""), 1u);
  EXPECT_EQ(count(svg, "class=\"hover\""), 4u);
  EXPECT_NE(svg.find("conv&lt;1&gt;</text>"), svg.npos);  // written on its band
  EXPECT_NE(svg.find("conv float32(4, 8), steps 0 to 3"), svg.npos);
  EXPECT_NE(svg.find(", made again"), svg.npos);
  EXPECT_NE(svg.find(">20.0 MiB</text>"), svg.npos);  // round numbers at the axis
}

TEST(MemoryPicture, IsOnePageThatLoadsNothing) {
  const std::string page = picture_html(example());
  for (const char* part : {"src=", "href=", "url(", "@import", "<script", "<link", "http"})
    EXPECT_EQ(page.find(part), page.npos) << part;
  EXPECT_NE(page.find("<h1>&lt;a &amp; b&gt;</h1>"), page.npos);
}

TEST(MemoryPicture, OfAModelNamesItsLayers) {
  Sequential model({Input({64}), Dense(512, {.name = "wide"}), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_NE(memory_report_svg(model, 256).find("wide"), std::string::npos);
  EXPECT_NE(memory_report_html(model, 256).find("wide"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll
