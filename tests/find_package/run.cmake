set(prefix ${BUILD}/installed)
set(work ${BUILD}/uses_installed)
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/installed -B ${work} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work})
run(${work}/uses_plimsoll)
run(${prefix}/bin/plimsoll version)

# A plug-in in the folder of the installation is found, wherever that was put.
set(devices ${prefix}/${LIBDIR}/plimsoll/devices)
file(COPY ${PLUGIN} DESTINATION ${devices})
execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=PLIMSOLL_DEVICES ${prefix}/bin/plimsoll devices OUTPUT_VARIABLE list
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT list MATCHES "interpreter:0: .*plug-in: ${devices}")
  message(FATAL_ERROR "the plug-in in ${devices} was not found:\n${list}")
endif()
file(REMOVE_RECURSE ${devices})
