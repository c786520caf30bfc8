# plimsoll_starts_anywhere(<program>): it starts with any LD_LIBRARY_PATH. People call these programs when native libraries
# are broken, and an old libstdc++, libcrypto or libzmq on that path (MATLAB, old CUDA) would end them before main(). The
# folder of the libraries they were linked with goes into DT_RPATH, which the loader reads before LD_LIBRARY_PATH
# (docs/decisions/0037-programs-that-start-anywhere.md).
function(plimsoll_starts_anywhere program)
  if(APPLE OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so.6 OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REAL_PATH "${runtime}" runtime)
  get_filename_component(folder "${runtime}" DIRECTORY)
  if(NOT EXISTS "${runtime}")
    message(STATUS "${program}: no libstdc++.so.6 beside the compiler; it may not start where LD_LIBRARY_PATH holds an old one")
    return()
  endif()
  target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
  get_target_property(folders ${program} INSTALL_RPATH)
  if(NOT folders)
    set(folders "")
  endif()
  list(APPEND folders "$ORIGIN/../lib" "${folder}")
  list(REMOVE_DUPLICATES folders)
  # The same in the build tree, whose libraries lie in lib/ beside bin/. A path of its own there CMake ends with colons, and the
  # loader takes an empty entry for the current folder.
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "${folders}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()
