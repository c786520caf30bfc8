// PROJ_LIB or PROJ_DATA that leads libraries for maps to the database of another PROJ, as QGIS, PostGIS and
// conda set it: the variable wins over the database in their own wheel.
#include <optional>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// The number of its layout, a text in the database behind its name. 0: it is too old to have one. Nothing:
// there is no database.
std::optional<unsigned> layout_of(const fs::path& folder) {
  const std::optional<MappedFile> file = MappedFile::open(folder / "proj.db");
  if (!file) return std::nullopt;
  const std::string_view text = file->bytes().text();
  constexpr std::string_view kName = "DATABASE.LAYOUT.VERSION.MINOR";
  unsigned number = 0;
  const size_t at = text.find(kName);
  for (size_t i = at + kName.size();
       at != std::string_view::npos && i < text.size() && is_digit(text[i]) && number < 100; ++i)
    number = 10 * number + static_cast<unsigned>(text[i] - '0');
  return number;
}

}  // namespace

void find_proj_data(const Exam& exam, Findings& findings) {
  const char* const name = exam.system.has_variable("PROJ_DATA") ? "PROJ_DATA" : "PROJ_LIB";
  const std::string_view value = exam.system.variable(name);
  if (value.empty()) return;
  for (const char* project : {"rasterio", "fiona", "pyogrio"}) {
    const fs::path own = exam.environment.locate(fs::path(project) / "proj_data");
    const std::optional<unsigned> wanted = own.empty() ? std::nullopt : layout_of(own);
    const std::optional<unsigned> there = layout_of(value);
    if (!wanted || !there || *there >= *wanted) continue;
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(name, " leads ", project, " to the database of an older PROJ"),
         {concat(name, "=", value), concat("layout ", *there, "; ", project, " needs ", *wanted)},
         concat("CRSError: The EPSG code is unknown; proj.db comes from another PROJ installation, in ",
                project),
         unset_command(exam, name)});
    return;
  }
}

}  // namespace plimsoll::doctor
