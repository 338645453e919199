#pragma once
// The functions that each level has: one table of them for each level, whose objects export nothing else.

#include <cstddef>
#include <tuple>

#include <xloom/activations.hpp>
#include <xloom/lstm_cell.hpp>
#include <xloom/packed_matrix.hpp>

namespace xloom::dispatch::detail {

using namespace xloom::detail;

template <class T>
using basic_functions = std::tuple<activate_functions<T>, matrix_functions<T>>;

template <class T>
using lstm_functions = std::tuple<pack_functions<lstm_family, T, lstm_constants<T>, lstm_options>,
    part_functions<T, lstm_states<T>>, small_step_functions<kernel::lstm_parameters<T>>,
    cell_functions<T, kernel::lstm_rows<T>, kernel::lstm_parameters<T>>>;

template <class T>
using functions_of_type = decltype(std::tuple_cat(std::declval<basic_functions<T>>(),
    std::declval<lstm_functions<T>>()));

using table = decltype(std::tuple_cat(
    std::declval<functions_of_type<float>>(), std::declval<functions_of_type<double>>()));

} // namespace xloom::dispatch::detail

// Not in the namespace: a C name is what scripts keep when they make the other names local.
extern "C" {
[[gnu::visibility("hidden")]] extern xloom::dispatch::detail::table const xloom_dispatch_sse2;
[[gnu::visibility("hidden")]] extern xloom::dispatch::detail::table const xloom_dispatch_avx2;
[[gnu::visibility("hidden")]] extern xloom::dispatch::detail::table const xloom_dispatch_avx512;
}
