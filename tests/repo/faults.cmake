# What the checks have in common.

# fault(TEXT) prints what a check finds and counts it in `faults`. It is no macro, which would read TEXT's escapes once more.
set(faults 0)
function(fault text)
  message("${text}")
  math(EXPR faults "${faults} + 1")
  set(faults ${faults} PARENT_SCOPE)
endfunction()

# plain_text(TEXT RESULT) puts spaces in place of brackets, semicolons and backslashes, which have a meaning in CMake's lists.
function(plain_text text result)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# read_text(PATH RESULT) reads a file as plain text.
function(read_text path result)
  file(READ ${path} text)
  plain_text("${text}" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
