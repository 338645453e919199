#pragma once
// The arguments of a backward pass in place by their names: the cotangents of the results, and the gradients.

#include <tuple>
#include <utility>

#include <xloom/detail/tensor/operand_tuple.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Returns values as a tuple of references to variables, and of the other values. One std::tuple stands for
/// its values.
template <class... Xs>
auto grouped(Xs&&... values)
{
    return std::tuple<Xs...>(std::forward<Xs>(values)...);
}
template <class Pack>
    requires is_tuple<bare<Pack>>
auto grouped(Pack&& values)
{
    if constexpr (std::is_lvalue_reference_v<Pack>)
        return detail::leaves(values);
    else
        return bare<Pack>(std::move(values));
}
template <class... Xs>
using grouped_t = decltype(detail::grouped(std::declval<Xs>()...));

} // namespace detail

/// The cotangents of the results of scan_vjp_into or loop_vjp_into, as in
/// `cotangents().states(ct_h).outputs(ct_y)`. Variables are not copied. Without states() those of the final
/// states are zeros.
template <class States = std::tuple<>, class Outputs = std::tuple<>>
struct cotangents {
    States ct_states{};
    Outputs ct_outputs{};

    /// Returns these with the cotangents of the final states.
    template <class... Xs>
    auto states(Xs&&... values) const
    {
        return cotangents<detail::grouped_t<Xs...>, Outputs>{
            detail::grouped(std::forward<Xs>(values)...), ct_outputs};
    }
    /// Returns these with the cotangents of the scan outputs.
    template <class... Xs>
    auto outputs(Xs&&... values) const
    {
        return cotangents<States, detail::grouped_t<Xs...>>{
            ct_states, detail::grouped(std::forward<Xs>(values)...)};
    }
};

/// The cotangents that scan_vjp_into or loop_vjp_into adds to, of the operands:
/// `gradients().init(ct_h).scan_inputs(ct_x).params(ct_w)`. init() is optional.
template <class Init = std::tuple<>, class Inputs = std::tuple<>, class Params = std::tuple<>>
struct gradients {
    Init ct_init{};
    Inputs ct_scan_inputs{};
    Params ct_params{};

    /// Returns these with those of the initial states.
    template <class... Xs>
    auto init(Xs&&... values) const
    {
        return gradients<detail::grouped_t<Xs...>, Inputs, Params>{
            detail::grouped(std::forward<Xs>(values)...), ct_scan_inputs, ct_params};
    }
    /// Returns these with those of the scan inputs.
    template <class... Xs>
    auto scan_inputs(Xs&&... values) const
    {
        return gradients<Init, detail::grouped_t<Xs...>, Params>{
            ct_init, detail::grouped(std::forward<Xs>(values)...), ct_params};
    }
    /// Returns these with those of the parameters.
    template <class... Xs>
    auto params(Xs&&... values) const
    {
        return gradients<Init, Inputs, detail::grouped_t<Xs...>>{
            ct_init, ct_scan_inputs, detail::grouped(std::forward<Xs>(values)...)};
    }
};

} // namespace xloom::inline XLOOM_ABI
