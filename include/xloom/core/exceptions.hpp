#pragma once
// The library's name in files without exceptions: a file of the same program that is compiled with them has
// functions of the same names, of which a linker keeps one. With a name of its own for each, an error leaves
// a file by the way that the file was compiled for.

#ifndef __cpp_exceptions
#define xloom xloom_without_exceptions
#endif
