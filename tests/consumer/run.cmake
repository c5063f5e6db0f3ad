# Installs BUILD (generator GENERATOR, flags FLAGS) under WORK, builds the consumers against that and runs them on the model in SAMPLE:
# cmake -DBUILD=… -DWORK=… -DGENERATOR=… -DFLAGS=… -DSAMPLE=… -DONNX=… -DMXNET=… -P run.cmake; the last two: what the build reads
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

# Nothing of what lies behind the public headers is installed.
file(GLOB_RECURSE headers RELATIVE ${WORK}/prefix/include ${WORK}/prefix/include/*)
list(FILTER headers EXCLUDE REGEX "^halftone/[a-z]+\\.h$")
if(headers)
  message(FATAL_ERROR "installed beside the public headers: ${headers}")
endif()

# What is installed is found by its own place: the build folder may go.
file(GLOB_RECURSE configs ${WORK}/prefix/*.cmake)
foreach(config IN LISTS configs)
  file(READ ${config} text)
  string(FIND "${text}" "${BUILD}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${config} names the build folder")
  endif()
endforeach()
file(GLOB programs ${WORK}/prefix/bin/*)
foreach(program IN LISTS programs)
  file(READ_ELF ${program} RUNPATH runpath)
  if(runpath MATCHES "^/|:/|;/")
    message(FATAL_ERROR "${program} looks for libraries in ${runpath}, expected places beside it")
  endif()
endforeach()

# runs(NAME EXPECTED ARGUMENTS…): the program says that, a regular expression
function(runs name expected)
  execute_process(COMMAND ${WORK}/build/${name} ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE failed)
  if(failed OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${name} ended with ${failed} and said '${output}', expected '${expected}'")
  endif()
endfunction()

if(ONNX)
  set(model ${SAMPLE}/digits.onnx)
  runs(convert "^[0-9]+ nodes became [0-9]+, with [1-9][0-9]* casts, in .*/converted[.]onnx" ${model} ${WORK}/converted)
  runs(quantize "^[1-9][0-9]* nodes in int8; 450 examples, float32 right 0\\.9" ${model} ${SAMPLE}/digits-calibration.npz ${WORK}/int8
    ${SAMPLE}/digits-test.npz)
  runs(measure "^Halftone [0-9.]+: 10 values; 450 examples, 0\\.9" ${model} ${SAMPLE}/digits-test.npz)
endif()
if(NOT MXNET)
  return()
endif()
set(model ${SAMPLE}/digits-symbol.json)
# The numbers are those of MXNet's own convert_model for the sample: 10 casts and a multicast.
runs(convert "^62 nodes became 73, with 11 casts" ${model} ${WORK}/converted)
if(NOT EXISTS ${WORK}/converted-0000.params)
  message(FATAL_ERROR "no files under ${WORK}/converted")
endif()
runs(quantize "^[1-9][0-9]* nodes in int8; 450 examples, float32 right 0\\.9" ${model} ${SAMPLE}/digits-calibration.npz ${WORK}/int8
  ${SAMPLE}/digits-test.npz)
runs(measure "^Halftone [0-9]+\\.[0-9]+\\.[0-9]+: 10 values; 450 examples, 0\\.9" ${model} ${SAMPLE}/digits-test.npz)
