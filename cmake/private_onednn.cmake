# plimsoll_private_onednn(<library> <include> <reason>) makes the copy of oneDNN that is ours alone, in lib/ of the build
# tree, and the target plimsoll_onednn for it; sets PLIMSOLL_HAVE_ONEDNN, or <reason> if this library cannot be used.
function(plimsoll_private_onednn library include reason)
  set(script ${CMAKE_SOURCE_DIR}/cmake/private_onednn.py)
  set(copy ${CMAKE_BINARY_DIR}/lib/libplimsoll_onednn.so.3)
  set(names ${CMAKE_BINARY_DIR}/generated/onednn/onednn_names.h)
  get_filename_component(real ${library} REALPATH)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script} ${real})
  if(NOT EXISTS ${copy} OR NOT EXISTS ${names} OR ${script} IS_NEWER_THAN ${copy} OR ${real} IS_NEWER_THAN ${copy})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib ${CMAKE_BINARY_DIR}/generated/onednn)
    execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${real} ${copy} ${names}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE why ERROR_VARIABLE why OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed)
      set(${reason} "${real} cannot be used: ${why}" PARENT_SCOPE)
      return()
    endif()
  endif()
  add_library(plimsoll_onednn SHARED IMPORTED GLOBAL)
  set_target_properties(plimsoll_onednn PROPERTIES IMPORTED_LOCATION ${copy} IMPORTED_SONAME libplimsoll_onednn.so.3
                        INTERFACE_INCLUDE_DIRECTORIES "${include};${CMAKE_BINARY_DIR}/generated/onednn"
                        INTERFACE_COMPILE_DEFINITIONS PLIMSOLL_HAVE_ONEDNN=1)
  set(PLIMSOLL_HAVE_ONEDNN ON PARENT_SCOPE)
endfunction()
