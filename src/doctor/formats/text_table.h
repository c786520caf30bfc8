// Tables as text (CSV, TSV): whether pandas and csv would read them as they are.
#pragma once

#include "doctor/formats/data_file.h"

namespace plimsoll::doctor {

DataFile inspect_text_table(std::string_view bytes, char separator);

}  // namespace plimsoll::doctor
