#pragma once
// The run of a parallel scan of one operand, or of tuples of several.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <xloom/associative_scan_options.hpp>
#include <xloom/check/associative_scan.hpp>
#include <xloom/run/prefix/associative_scan_types.hpp>
#include <xloom/run/prefix/scan_sequences.hpp>

namespace xloom::detail {

/// Scans tuples, of which each operand holds one member.
template <class... Ts, class Op, class Policy>
void scan_tuples(std::tuple<Ts const*...> const& x, std::tuple<Ts*...> const& y,
    sequences<2 * sizeof...(Ts)> const& all, std::tuple<Ts...> const* start, bool exclusive, Op& op,
    Policy const& policy)
{
    using V = std::tuple<Ts...>;
    using ref = operator_ref<V, Op>;
    using access = tuple_access<Ts...>;
    using strip = kernel::strip_prefix<V, ref, access, true>;
    if (all.length() == 0 || all.count() == 0)
        return;
    auto const make = [&](std::size_t first, std::size_t width) {
        auto const at = all(first);
        auto const strip_of = [&]<std::size_t... K>(std::index_sequence<K...>) {
            constexpr std::size_t results = sizeof...(Ts);
            return access{{{std::get<K>(x) + at[K], all.time()[K], all.beside()[K]}...},
                {{std::get<K>(y) + at[results + K], all.time()[results + K], all.beside()[results + K]}...},
                start};
        };
        return strip(ref{&op}, strip_of(std::index_sequence_for<Ts...>{}), all.length(), width, exclusive);
    };
    detail::run_strips_of_rows(all, 0, all.neighbours(), kernel::strip_width<V>,
        detail::scan_parts<V, Op>(all.length() * all.count(), policy), make, policy);
}

/// Returns operands with their names: xs, or xs[0], xs[1] ... for a tuple. The names are kept in `names`.
template <class... Ts>
std::array<scan_operand, sizeof...(Ts)> named_operands(std::string_view name, bool is_tuple,
    std::array<std::string, sizeof...(Ts)>& names, std::tuple<Ts...> const& operands)
{
    std::array<scan_operand, sizeof...(Ts)> named;
    detail::for_each_leaf(operands, [&](auto i, auto const& operand) {
        names[i] = is_tuple ? concat(name, "[", std::size_t{i}, "]") : std::string(name);
        named[i] = {names[i], detail::memory_of(operand)};
    });
    return named;
}

/// Checks the operands and scans them. Requires valid types.
template <bool IsTuple, class V, class Op, class... Xs, class... Ys, class Policy>
void run_associative_scan(std::string_view name, Op& op, std::tuple<Xs...> const& xs,
    std::tuple<Ys&...> const& ys, associative_scan_options const& options, Policy const& policy)
{
    constexpr std::size_t count = sizeof...(Xs);
    detail::check_ranks(name, "xs", xs);
    detail::check_ranks(name, "ys", ys);
    std::array<std::string, count> x_names, y_names;
    auto const inputs = detail::named_operands(IsTuple ? "xs" : "x", IsTuple, x_names, xs);
    auto const results = detail::named_operands(IsTuple ? "ys" : "y", IsTuple, y_names, ys);
    std::array<scan_operand, 2 * count> all;
    std::array<strided_layout, 2 * count> layouts;
    for (std::size_t k = 0; k < count; ++k) {
        all[k] = inputs[k];
        all[count + k] = results[k];
    }
    for (std::size_t k = 0; k < 2 * count; ++k)
        layouts[k] = all[k].memory.layout;
    std::size_t const axis = check_scanned_axis(name, all, options.axis);
    check_scan_memory(name, inputs, results);
    detail::check_scan_operator<V>(name, op);
    sequences<2 * count> const along(layouts, axis, options.reverse);
    auto const x = std::apply(
        [](auto const&... each) {
            return std::tuple<item_t<Xs> const*...>(enable_tensor<bare<Xs>>::data(each)...);
        },
        xs);
    auto const y = std::apply(
        [](auto&... each) { return std::tuple<item_t<Ys>*...>(enable_tensor<bare<Ys>>::data(each)...); }, ys);
    detail::with_scan_operator<V>(
        name, op, options.exclusive, [&](auto& function, std::optional<V> const& start) {
            V const* const first = start ? &*start : nullptr;
            if constexpr (IsTuple)
                detail::scan_tuples(x, y, along, first, options.exclusive, function, policy);
            else
                detail::scan_sequences(
                    std::get<0>(x), std::get<0>(y), along, first, options.exclusive, function, policy);
        });
}

template <class Op, class Xs, class Ys, class Policy>
void associative_scan_into(std::string_view name, Op& op, Xs const& xs, Ys& ys,
    associative_scan_options const& options, Policy const& policy)
{
    detail::run_associative_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, detail::evaluated_inputs(xs), detail::leaves(ys), options, policy);
}

/// Returns a new tensor of the shape of another one.
template <class X>
owned_t<X> make_like(std::string_view name, X const& x)
{
    check_rank(name, "xs", detail::rank_of(x));
    return enable_tensor<owned_t<X>>::make(detail::shape_of(x));
}

template <class Op, class Xs, class Policy>
auto associative_scan(std::string_view name, Op& op, Xs const& xs, associative_scan_options const& options,
    Policy const& policy)
{
    auto const inputs = detail::evaluated_inputs(xs);
    auto results = std::apply(
        [&](auto const&... x) { return std::tuple<owned_t<decltype(x)>...>(detail::make_like(name, x)...); },
        inputs);
    detail::run_associative_scan<is_tuple<Xs>, scanned_t<Xs>>(
        name, op, inputs, detail::leaves(results), options, policy);
    if constexpr (is_tuple<Xs>)
        return results;
    else
        return std::get<0>(std::move(results));
}

} // namespace xloom::detail
