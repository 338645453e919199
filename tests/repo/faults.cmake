# fault(TEXT) prints what a check finds and counts it in `faults`.

set(faults 0)
macro(fault text)
  message("${text}")
  math(EXPR faults "${faults} + 1")
endmacro()
