add_library(xsimd INTERFACE IMPORTED) # of which only the version is looked at
