# What `cmake --install` lays out: the program, the library with its headers, and what find_package(Plimsoll) reads.
# The library is a shared one, so that its users need none of what it stands on.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS plimsoll_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set_target_properties(plimsoll_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
plimsoll_starts_anywhere(plimsoll_cli)
if(TARGET plimsoll_guard_binary)
  install(TARGETS plimsoll_guard_binary RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  plimsoll_starts_anywhere(plimsoll_guard_binary)
endif()
if(TARGET plimsoll_gate)
  install(TARGETS plimsoll_gate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/plimsoll)
endif()
if(NOT PLIMSOLL_ENGINE)
  return()
endif()

set_target_properties(plimsoll_shared PROPERTIES EXCLUDE_FROM_ALL OFF OUTPUT_NAME plimsoll VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN"
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
target_link_options(plimsoll_shared PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map")
install(TARGETS plimsoll_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/plimsoll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(PLIMSOLL_HAVE_ONEDNN)
  install(IMPORTED_RUNTIME_ARTIFACTS plimsoll_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  get_filename_component(onednn_licence ${ONEDNN_INCLUDE}/../share/doc/onednn/LICENSE ABSOLUTE)
  install(FILES ${onednn_licence} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME oneDNN-LICENSE OPTIONAL)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/PlimsollConfig.cmake.in ${CMAKE_BINARY_DIR}/PlimsollConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Plimsoll
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/PlimsollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/PlimsollConfig.cmake ${CMAKE_BINARY_DIR}/PlimsollConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Plimsoll)
