// Tables as text (CSV, TSV): whether pandas and csv would read them as they are.
#pragma once

#include "doctor/formats/data_file.h"

namespace plimsoll::doctor {

// The byte at which the text stops to be UTF-8; npos: it does not.
size_t end_of_utf8(std::string_view text);

DataFile inspect_text_table(std::string_view bytes, char separator);

}  // namespace plimsoll::doctor
