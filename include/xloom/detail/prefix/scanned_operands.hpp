#pragma once
// The operands and results of a parallel scan: their names, memory and items.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include <xloom/detail/check/associative_scan.hpp>
#include <xloom/detail/tensor/operands.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The operands and results of a call, which are as many. Their names in error texts are given; if they are
/// tuples, such as xs, followed by [0] and so on.
template <bool IsTuple, class Xs, class Ys>
class scanned_operands;

template <bool IsTuple, class... Xs, class... Ys>
class scanned_operands<IsTuple, std::tuple<Xs...>, std::tuple<Ys&...>> {
public:
    static constexpr std::size_t count = sizeof...(Xs) + sizeof...(Ys);

    std::tuple<item_t<Xs> const*...> x;
    std::tuple<item_t<Ys>*...> y;

    scanned_operands(std::string_view x_name, std::tuple<Xs...> const& xs, std::string_view y_name,
        std::tuple<Ys&...> const& ys)
        : x(std::apply(
              [](auto const&... each) {
                  return std::tuple<item_t<Xs> const*...>(enable_tensor<bare<Xs>>::data(each)...);
              },
              xs)),
          y(std::apply(
              [](auto&... each) {
                  return std::tuple<item_t<Ys>*...>(enable_tensor<bare<Ys>>::data(each)...);
              },
              ys))
    {
        refer(0, x_name, xs);
        refer(sizeof...(Xs), y_name, ys);
    }
    scanned_operands(scanned_operands const&) = delete;

    std::span<scan_operand const> operands() const { return operands_; }
    std::span<scan_operand const> inputs() const { return operands().first(sizeof...(Xs)); }
    std::span<scan_operand const> results() const { return operands().last(sizeof...(Ys)); }

    std::array<strided_layout, count> layouts() const
    {
        std::array<strided_layout, count> layouts;
        for (std::size_t k = 0; k < count; ++k)
            layouts[k] = operands_[k].memory.layout;
        return layouts;
    }

private:
    template <class Operands>
    void refer(std::size_t begin, std::string_view name, Operands const& operands)
    {
        detail::for_each_leaf(operands, [&](auto i, auto const& operand) {
            names_[begin + i] = IsTuple ? concat(name, "[", std::size_t{i}, "]") : std::string(name);
            operands_[begin + i] = {names_[begin + i], detail::memory_of(operand)};
        });
    }

    std::array<std::string, count> names_;
    std::array<scan_operand, count> operands_;
};

} // namespace xloom::inline XLOOM_ABI::detail
