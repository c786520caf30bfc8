# plimsoll_file_list(<out> <header> LIST "<type> <function>" DECLARE <text> ROW <text> SOURCES <files...>)
# writes <out>: `std::span<const type> function()` with a row for each source file that is no test. `@` in DECLARE and ROW
# stands for the file's name: an op, a layer, a finding or a command is found by its file being there.
function(plimsoll_file_list out header)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "LIST;DECLARE;ROW" "SOURCES")
  string(REGEX MATCH "(.*) (.*)" unused ${arg_LIST})
  set(type ${CMAKE_MATCH_1})
  set(function ${CMAKE_MATCH_2})
  list(FILTER arg_SOURCES EXCLUDE REGEX "_test\\.cpp$")
  set(declarations "")
  set(rows "")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(stem ${source} NAME_WE)
    string(REPLACE "@" "${stem}" declaration "${arg_DECLARE}")
    string(REPLACE "@" "${stem}" row "${arg_ROW}")
    string(APPEND declarations "${declaration}\n")
    string(APPEND rows "    ${row},\n")
  endforeach()
  file(GENERATE OUTPUT ${out} CONTENT "// Written by cmake/file_list.cmake.
#include \"${header}\"

${declarations}
std::span<const ${type}> ${function}() {
  static constexpr ${type} kAll[] = {
${rows}  };
  return kAll;
}
")
endfunction()

# The op files of the folders, as op_files() of graph/op_list.h.
function(plimsoll_op_list out)
  list(TRANSFORM ARGN APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  plimsoll_file_list(${out} graph/op_list.h LIST "plimsoll::OpFile plimsoll::op_files"
                     DECLARE "namespace plimsoll { std::span<const OpDef> ops_@(); }" ROW "plimsoll::ops_@" SOURCES ${sources})
endfunction()
