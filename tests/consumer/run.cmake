# Installs BUILD (generator GENERATOR, flags FLAGS) under WORK, builds the consumer against that and runs it on MODEL:
# cmake -DBUILD=… -DWORK=… -DGENERATOR=… -DFLAGS=… -DMODEL=… -P run.cmake
file(REMOVE_RECURSE ${WORK})
foreach(step
    "--install;${BUILD};--prefix;${WORK}/prefix"
    "-S;${CMAKE_CURRENT_LIST_DIR};-B;${WORK}/build;-G;${GENERATOR};-DCMAKE_PREFIX_PATH=${WORK}/prefix;-DCMAKE_CXX_FLAGS=${FLAGS}"
    "--build;${WORK}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cmake ${step}:\n${output}")
  endif()
endforeach()

# The numbers are those of MXNet's own convert_model for the sample: 10 casts and a multicast.
set(expected "62 nodes became 73, with 11 casts")
execute_process(COMMAND ${WORK}/build/consumer ${MODEL} ${WORK}/converted OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
if(failed OR NOT output MATCHES "^${expected}" OR NOT EXISTS ${WORK}/converted-0000.params)
  message(FATAL_ERROR "the consumer said '${output}', expected '${expected}' and files under ${WORK}/converted")
endif()
