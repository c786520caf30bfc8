// The texts of watch.h.
#include <cmath>
#include <cstdio>

#include "plimsoll/watch.h"

namespace plimsoll {
namespace {

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", x);
  return text;
}

}  // namespace

std::string ValueRange::str() const {
  std::string s = name.empty() ? type : concat(name, " ", type);
  if (count == 0) return s + ": empty";
  if (!std::isnan(least) && (least != 0 || most != 0 || first_bad >= 0 || type.find("float") == 0))
    s += concat(": ", number(least), " to ", number(most));
  if (first_bad < 0) return s;
  s += std::isnan(least) ? ":" : ",";
  if (nans > 0) s += concat(" ", nans, " NaN");
  if (infinite > 0) s += concat(nans > 0 ? " and " : " ", infinite, " infinite");
  return s + concat(" of ", count, ", the first at index ", first_bad);
}

std::string NonFinite::str() const {
  if (op.empty() && result.name.empty())
    return "a second run of the step met finite numbers only, or could not look at them";
  if (op.empty()) return concat("they were there before the step, in ", result.str());
  std::string s =
      concat("first made by ", op, layer.empty() ? "" : " in layer ", layer, " -> ", result.str());
  for (const ValueRange& in : inputs) s += concat("\n  from ", in.str());
  return s;
}

NonFiniteError::NonFiniteError(std::string_view message, NonFinite found)
    : Error(ErrorKind::invalid_argument, "fit", concat(message, "; ", found.str())),
      found_(std::make_shared<const NonFinite>(std::move(found))) {}

std::string StallReport::str() const {
  std::string s = concat(doing, op.empty() ? "" : " ", op, ": ");
  s += deadline ? concat("the step takes longer than its deadline of ", number(allowed), " s")
                : concat("no sign of life for ", number(silent), " s (", number(counted),
                         " s of them not for want of a processor); expected at most ", number(allowed), " s");
  for (const std::string& thread : threads) s += concat("\n  thread ", thread);
  if (!memory.empty()) s += concat("\n  ", memory);
  return s;
}

StallError::StallError(StallReport report)
    : Error(ErrorKind::device, "fit", report.str()),
      report_(std::make_shared<const StallReport>(std::move(report))) {}

}  // namespace plimsoll
