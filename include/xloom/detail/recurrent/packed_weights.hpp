#pragma once
// The weights of the recurrent operators, packed once for all calls that use them.

#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/kernel/units.hpp>
#include <xloom/detail/recurrent/batch_run.hpp>
#include <xloom/detail/recurrent/packing.hpp>
#include <xloom/detail/recurrent/shared_parameters.hpp>
#include <xloom/detail/recurrent/storage_checks.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The results of the checks of constants and options. Initialised in braces, which fix the order of the
/// checks.
struct checked_weights {
    recurrent_widths sizes;
    activation_list functions;
};

/// The name of the operator in the errors of a constructor.
struct operator_name {
    std::string_view text;
};

/// The function that packs the weights of one direction.
template <class Family, class Item, class Constants, class Options, class Packing = full_packing>
struct pack_functions {
    using item = Item;
    using T = compute_t<Item>;
    using parameters = typename Family::template parameters<T>;

    parameters (*pack)(Constants const&, typename Family::checked const&, Options const&, std::size_t d,
        Packing, kernel::arena<T>&);

    static constexpr pack_functions compiled() noexcept
    {
        return {[](Constants const& constants, typename Family::checked const& checked,
                    Options const& options, std::size_t d, Packing packing, kernel::arena<T>& memory) {
            return Family::template pack<T>(constants, checked, options, d, packing, memory);
        }};
    }
};

/// The packed weights of a recurrent operator: sizes, attributes, and the parameters of each direction.
/// Family provides parameters<T>, check_constants(op, constants, options), which returns checked_weights or a
/// class derived from it, and pack(constants, checked, options, d, packing, memory), which returns parameters
/// of direction d.
template <class Family, class Item>
class packed_weights {
    using T = compute_t<Item>;

public:
    xloom::direction direction() const noexcept { return direction_; }
    std::int64_t layout() const noexcept { return layout_; }
    recurrent_widths const& sizes() const noexcept { return checked_.sizes; }
    vector_level level() const noexcept { return level_; }
    weight_storage storage() const noexcept { return storage_; }
    /// Returns the number of bytes of the packed weights, which all copies share.
    std::size_t bytes() const noexcept { return parameters_.bytes(); }

protected:
    template <class Constants, class Options>
    packed_weights(operator_name const& op, Constants const& constants, Options const& options)
        : packed_weights(Family::check_constants(op.text, constants, options), constants, options,
              weight_storage::full, [&](auto const& pack) { return pack(full_packing()); })
    {}

    /// Packs weights of float in any storage.
    template <class Constants, class Options>
    packed_weights(
        operator_name const& op, Constants const& constants, Options const& options, weight_storage storage)
        : packed_weights(check_stored(op.text, storage, constants, options), constants, options, storage,
              any_packing{storage})
    {}

    /// Packs other constants as a constructor does, in the memory of the old ones if it can.
    template <class Constants, class Options>
    void assign(operator_name const& op, Constants const& constants, Options const& options)
    {
        assign(Family::check_constants(op.text, constants, options), constants, options,
            [&](auto const& pack) { return pack(full_packing()); });
    }
    template <class Constants, class Options>
    void assign_stored(operator_name const& op, Constants const& constants, Options const& options)
    {
        if constexpr (kernel::has_narrow_storage<T>)
            assign(check_stored(op.text, storage_, constants, options), constants, options,
                any_packing{storage_});
        else
            assign(op, constants, options);
    }

    auto const& checked() const noexcept { return checked_; }

private:
    template <class F, class U>
    friend typename F::template parameters<compute_t<U>> const& parameters_of(
        packed_weights<F, U> const& weights, std::size_t d) noexcept;

    struct any_packing {
        weight_storage storage;

        auto operator()(auto const& pack) const
        {
            return storage == weight_storage::full ? pack(full_packing()) : pack(narrow_packing{storage});
        }
    };

    /// Calls choose(pack) for each direction, which calls pack with a packing and returns its result.
    template <class Constants, class Options, class Choose>
    packed_weights(typename Family::checked const& checked, Constants const& constants,
        Options const& options, weight_storage storage, Choose const& choose)
        : direction_(options.direction),
          layout_(layout_of_options(options)),
          storage_(storage),
          checked_(checked),
          parameters_(checked.sizes.D, packer(checked, constants, options, choose))
    {}

    template <class Constants, class Options, class Choose>
    void assign(typename Family::checked const& checked, Constants const& constants, Options const& options,
        Choose const& choose)
    {
        parameters_.assign(checked.sizes.D, packer(checked, constants, options, choose));
        direction_ = options.direction;
        layout_ = layout_of_options(options);
        checked_ = checked;
    }

    /// Returns what packs one direction.
    template <class Constants, class Options, class Choose>
    auto packer(typename Family::checked const& checked, Constants const& constants, Options const& options,
        Choose const& choose) const
    {
        return [&, this](std::size_t d, kernel::arena<T>& memory) {
            return choose([&]<class Packing>(Packing packing) {
                return level_.functions<pack_functions<Family, Item, Constants, Options, Packing>>().pack(
                    constants, checked, options, d, packing, memory);
            });
        };
    }

    template <class Constants, class Options>
    static typename Family::checked check_stored(
        std::string_view op, weight_storage storage, Constants const& constants, Options const& options)
    {
        typename Family::checked const checked = Family::check_constants(op, constants, options);
        check_storage(op, storage, constants);
        return checked;
    }

    [[no_unique_address]] vector_level level_{};
    xloom::direction direction_;
    std::int64_t layout_;
    weight_storage storage_;
    typename Family::checked checked_;
    shared_parameters<typename Family::template parameters<T>> parameters_;
};

/// Returns the kernel's parameters of direction d.
template <class Family, class Item>
typename Family::template parameters<compute_t<Item>> const& parameters_of(
    packed_weights<Family, Item> const& weights, std::size_t d) noexcept
{
    return weights.parameters_[d];
}

/// Returns the block that begins at (first_row, first_column) of matrix d of a tensor [D, .., ..],
/// transposed: its columns are along the depth.
template <class Item>
kernel::strided_matrix<Item> across(
    tensor_ref<Item const> const& from, std::size_t d, std::size_t first_row, std::size_t first_column)
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    return {
        from.data() + at(d) * from.step(0) + at(first_row) * from.step(1) + at(first_column) * from.step(2),
        from.step(2), from.step(1)};
}

/// Returns the block that begins at (first_row, first_column) of matrix d of a tensor [D, .., ..], not
/// transposed: its rows are along the depth.
template <class Item>
kernel::strided_matrix<Item> along(
    tensor_ref<Item const> const& from, std::size_t d, std::size_t first_row, std::size_t first_column = 0)
{
    kernel::strided_matrix<Item> const matrix = across(from, d, first_row, first_column);
    return {matrix.items, matrix.column_step, matrix.depth_step};
}

/// Loads `count` items of a tensor of rank 2: to = from[d, first ..].
template <class T, class Item>
void load_row(tensor_ref<Item const> const& from, std::size_t d, std::size_t first, std::size_t count, T* to)
{
    auto const at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
    kernel::copy_row<Item, T>(
        {from.data() + at(d) * from.step(0) + at(first) * from.step(1), from.step(1)}, count, {to});
}

/// Computes to = B[d, first ..] + B[d, second ..], H items of each; leaves the initial zeros if B is omitted.
template <class T, class Item>
void load_bias(tensor_ref<Item const> const& B, std::size_t d, std::size_t first, std::size_t second,
    std::size_t H, T* to)
{
    if (!B.is_given())
        return;
    auto const item = [&](std::size_t i) {
        return static_cast<T>(B.data()[static_cast<std::ptrdiff_t>(d) * B.step(0) +
                                       static_cast<std::ptrdiff_t>(i) * B.step(1)]);
    };
    for (std::size_t j = 0; j < H; ++j)
        to[j] = item(first + j) + item(second + j);
}

template <class T>
kernel::gate<T> gate_of(activation_function const& function, std::optional<double> const& clip)
{
    return {function, static_cast<T>(clip.value_or(0)), clip.has_value()};
}

} // namespace xloom::inline XLOOM_ABI::detail
