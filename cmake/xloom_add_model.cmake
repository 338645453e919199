# xloom_add_model(TARGET FILE.onnx [NAME name] [OPTIONS option...])
#
# Makes a C++ header of an ONNX model, NAME.hpp with the class NAME, as a step of TARGET's build: TARGET and what links to it can include it.
# The default is the file's name, and a class that xloom-compile names after it: time_ in time.hpp for time.onnx. OPTIONS are those of
# xloom-compile, such as --shape "x=1,576". With --weights file, NAME.bin is beside the header. A name is one model's in its folder: another
# target links to TARGET, or makes a model of another name.
#
# The compiler is the one that is installed with xloom or built in this tree (XLOOM_BUILD_TOOLS); XLOOM_COMPILE_PROGRAM replaces it, for
# builds that cannot run what they build.
function(xloom_add_model target file)
  cmake_parse_arguments(PARSE_ARGV 2 model "" "NAME" "OPTIONS")
  get_filename_component(file ${file} ABSOLUTE)
  set(name "")
  if(model_NAME)
    set(name --name ${model_NAME})
  else() # the compiler names the class
    get_filename_component(model_NAME ${file} NAME_WLE)
    string(MAKE_C_IDENTIFIER ${model_NAME} model_NAME)
  endif()
  get_property(names DIRECTORY PROPERTY XLOOM_MODELS)
  if("${model_NAME}" IN_LIST names)
    message(FATAL_ERROR "xloom_add_model: this folder has a model ${model_NAME} already. Link to its target, or choose another NAME.")
  endif()
  set_property(DIRECTORY APPEND PROPERTY XLOOM_MODELS ${model_NAME})
  if(XLOOM_COMPILE_PROGRAM)
    set(program ${XLOOM_COMPILE_PROGRAM})
  elseif(TARGET xloom-compile)
    set(program xloom-compile)
  elseif(TARGET xloom::xloom-compile)
    set(program xloom::xloom-compile)
  else()
    message(FATAL_ERROR "xloom_add_model: there is no xloom-compile: set XLOOM_BUILD_TOOLS where xloom is built, or XLOOM_COMPILE_PROGRAM here.")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/xloom_models)
  file(MAKE_DIRECTORY ${folder})
  set(weights "")
  if("${model_OPTIONS}" MATCHES "--weights[ ;=]file")
    set(weights ${folder}/${model_NAME}.bin)
  endif()
  add_custom_command(OUTPUT ${folder}/${model_NAME}.hpp ${weights}
    COMMAND ${program} ${file} -o ${folder}/${model_NAME}.hpp ${name} ${model_OPTIONS}
    DEPENDS ${file} ${program} COMMENT "Compiling ${file} to ${model_NAME}.hpp" VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${model_NAME}.hpp)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} PUBLIC xloom::onnx_operators)
endfunction()
