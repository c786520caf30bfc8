# What the programs stand on. Everything is found, nothing is downloaded: scripts/setup.sh installs it.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
if(PLIMSOLL_TESTS)
  find_package(GTest REQUIRED)
endif()
if(NOT PLIMSOLL_ENGINE)
  return()
endif()

find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(hwy QUIET CONFIG)
if(NOT TARGET hwy::hwy)
  find_library(HWY_LIBRARY hwy REQUIRED)
  find_path(HWY_INCLUDE hwy/highway.h REQUIRED)
  add_library(hwy::hwy UNKNOWN IMPORTED)
  set_target_properties(hwy::hwy PROPERTIES IMPORTED_LOCATION ${HWY_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${HWY_INCLUDE})
endif()

# oneDNN >= 3: the system's, else the one that scripts/setup.sh unpacks to .deps/onednn from PyPI. What we link is a copy
# that nothing else in the process can meet (docs/decisions/0015-a-private-onednn.md).
set(PLIMSOLL_HAVE_ONEDNN OFF)
if(PLIMSOLL_ONEDNN AND NOT CMAKE_CROSSCOMPILING)
  find_package(Python3 COMPONENTS Interpreter)
  if(SKBUILD)  # pip has put the packages of scripts/onednn.txt into an environment of its own for this build (pyproject.toml)
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import importlib.metadata as m; print(next(f.locate().resolve().parents[3] \
for f in m.files('onednn-devel-cpu-gomp') if f.match('oneapi/dnnl/dnnl.hpp')))" OUTPUT_VARIABLE onednn_of_pip OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(places $ENV{PLIMSOLL_DEPS}/onednn ${CMAKE_SOURCE_DIR}/.deps/onednn ${onednn_of_pip})
  find_path(ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp HINTS ${places} PATH_SUFFIXES include)
  find_library(ONEDNN_LIBRARY dnnl HINTS ${places} PATH_SUFFIXES lib)
  set(reason "oneDNN >= 3 and Python 3 were not found")
  if(ONEDNN_INCLUDE AND ONEDNN_LIBRARY AND Python3_FOUND)
    file(STRINGS ${ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h ONEDNN_MAJOR_LINE REGEX "define DNNL_VERSION_MAJOR")
    string(REGEX MATCH "[0-9]+" ONEDNN_MAJOR "${ONEDNN_MAJOR_LINE}")
    if(ONEDNN_MAJOR GREATER_EQUAL 3)
      include(private_onednn)
      plimsoll_private_onednn(${ONEDNN_LIBRARY} ${ONEDNN_INCLUDE} reason)
    endif()
  endif()
  if(NOT PLIMSOLL_HAVE_ONEDNN)
    message(STATUS "no oneDNN: ${reason}; the engine runs on its own kernels")
  endif()
endif()

# Reference BLAS and LAPACK as archives: what is used of them becomes part of the engine and meets nobody else's
# (docs/decisions/0031-lapack-linked-in.md).
find_library(LAPACK_ARCHIVE liblapack_pic.a REQUIRED)
find_library(BLAS_ARCHIVE libblas.a PATH_SUFFIXES blas REQUIRED)

# libhdf5 and its high-level part, the serial build. find_package(HDF5) asks a compiler wrapper, which knows only the
# machine it runs on. The names with versions are for cross-compiling, where Debian has no package of development files.
find_path(HDF5_INCLUDE hdf5_hl.h PATH_SUFFIXES hdf5/serial REQUIRED)
find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 libhdf5_serial.so.103 PATH_SUFFIXES hdf5/serial REQUIRED)
find_library(HDF5_HL_LIBRARY NAMES hdf5_serial_hl hdf5_hl libhdf5_serial_hl.so.100 PATH_SUFFIXES hdf5/serial REQUIRED)
add_library(plimsoll_hdf5 INTERFACE)
target_include_directories(plimsoll_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE})
target_link_libraries(plimsoll_hdf5 INTERFACE ${HDF5_HL_LIBRARY} ${HDF5_LIBRARY})
