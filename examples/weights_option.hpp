#pragma once
// The option of programs that store weights in a narrow type.

#include <stdexcept>
#include <string>

#include <xloom/types.hpp>

/// Returns the storage that the option `name` gives.
///
/// Errors    std::runtime_error: no name of a storage.
inline xloom::weight_storage read_storage(std::string const& name, std::string const& text)
{
    using enum xloom::weight_storage;
    for (auto const storage : {full, float16, bfloat16, int8, dynamic_int8})
        if (text == name_of(storage))
            return storage;
    throw std::runtime_error(
        "--" + name + " must be full, float16, bfloat16, int8 or dynamic_int8, but is " + text);
}
