# xloom_add_model(TARGET FILE.onnx [NAME name] [OPTIONS option...])
#
# Makes a C++ header of an ONNX model, NAME.hpp with the class NAME (default: the file's name), as a step of TARGET's build: TARGET can
# include it. OPTIONS are those of xloom-compile, such as --shape "x=1,576".
function(xloom_add_model target file)
  cmake_parse_arguments(PARSE_ARGV 2 model "" "NAME" "OPTIONS")
  get_filename_component(file ${file} ABSOLUTE)
  if(NOT model_NAME)
    get_filename_component(model_NAME ${file} NAME_WE)
    string(MAKE_C_IDENTIFIER ${model_NAME} model_NAME)
  endif()
  set(program xloom::xloom-compile)
  if(TARGET xloom-compile)
    set(program xloom-compile)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/xloom_models)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/${model_NAME}.hpp
    COMMAND ${program} ${file} -o ${folder}/${model_NAME}.hpp --name ${model_NAME} ${model_OPTIONS}
    DEPENDS ${file} ${program} COMMENT "Compiling ${file} to ${model_NAME}.hpp" VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${model_NAME}.hpp)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE xloom::onnx_operators)
endfunction()
