# Files that instantiate the same templates are compiled together: AttnLSTM's nine take 63 s of processor time so, 152 s one by one. Larger
# units save little more and take more memory: three of these, of up to 3.1 GB, 279 s; one of 5.8 GB in their place 260 s. Each file has a
# namespace of its own for it. -DXLOOM_TEST_UNITS=OFF compiles them one by one, which is faster while one of them is being written.
option(XLOOM_TEST_UNITS "Compile test files of one family together" ON)

# The families: a file belongs to the first whose expression it matches.
set(test_units
  "allocation ^allocation/"
  "attn_lstm attn_lstm"
  "ranks ^ranks/"
  "kernel ^detail/kernel/"
  "rules ^detail/(check|core)/"
  "infer ^infer/"
  "recurrent lstm|gru|rnn|recurrent_|errors/recurrent|recurrent/(cells|family)|packed|activations"
  "selective selective_|linear_attention|causal_conv|language_models"
  "scatter_vjp ^gradients/scatter_nd_vjp(_derivatives)?\\.test"
  "scatter_vjp_types ^gradients/scatter_nd_vjp_"
  "vjp_errors _vjp"
  "scatter_threads ^indexing/scatter_nd_(copy|options|scalars|threads|callable)"
  "scatter_types ^indexing/scatter_nd_(floats|integers|storage|nan)"
  "scatter scatter"
  "gather gather"
  "segments segment|row_splits|ragged"
  "prefix associative|cumulative|linear_recurrence"
  "scan_into scan_(batched|into)"
  "scan scan"
  "limits errors/(limits|sizes)"
  "loop loop|if|errors|property"
  "tensor ^detail/(tensor|scan)/"
  "pure pure_"
  "interop ^interop/"
  "rest .")

# Files that define macros of common names stay alone.
set_source_files_properties(macros.test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# xloom_compile_in_units(TARGET FILE...): FILEs are sources of TARGET.
function(xloom_compile_in_units target)
  foreach(file IN LISTS ARGN)
    foreach(unit IN LISTS test_units)
      string(REGEX MATCH "^([^ ]+) (.+)$" match "${unit}")
      set(name ${CMAKE_MATCH_1})
      if(file MATCHES "${CMAKE_MATCH_2}")
        break()
      endif()
    endforeach()
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${name})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${XLOOM_TEST_UNITS} UNITY_BUILD_MODE GROUP)
endfunction()
