# extract.awk refuses what it would otherwise pass over in silence, and turns a result into a check.

cmake_minimum_required(VERSION 3.22)

function(extract name text)
  file(WRITE ${SCRATCH}/${name} "${text}")
  execute_process(COMMAND ${AWK} -v root=${SCRATCH}/ -v output=${SCRATCH}/cases.cpp -f ${EXTRACT} ${SCRATCH}/${name}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  set(result ${result} PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
endfunction()
function(refuse name text reason)
  extract(${name} "${text}")
  if(result EQUAL 0 OR NOT error MATCHES "${reason}")
    message(FATAL_ERROR "${name} must be refused because ${reason}, but: ${result} ${error}")
  endif()
endfunction()

refuse(open.md "```cpp\nf(); // = 1\n" "the file ends inside a block")
refuse(open.hpp "/// ```cpp\n/// f(); // = 1\nvoid f();\n" "a comment ends inside a block")
refuse(half.md "```cpp\nf(\n```\n" "the block ends inside a statement")
refuse(program.md "```cpp\n#include <cstdio>\n\nint main()\n{\n}\n```\n" "which nothing runs")
refuse(none.md "text\n" "there is no block")

extract(both.md "# A
```cpp
int const x = 1;
```
text
```cpp
x + 1; // = 2
f(x); // throws std::exception
```
```
no C++
```
")
file(READ ${SCRATCH}/cases.cpp cases)
foreach(part IN ITEMS
    "TEST_CASE(\"both.md:2\")" "int const x = 1;" "DOCS_SHOWS(\"2\", x + 1);" "CHECK_THROWS_AS((void)(f(x)), std::exception);")
  string(FIND "${cases}" "${part}" found)
  if(NOT result EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "${part} is missing in ${cases}")
  endif()
endforeach()
if(cases MATCHES "no C")
  message(FATAL_ERROR "what is no C++ is taken for it: ${cases}")
endif()
message("extract.awk refuses and checks")
