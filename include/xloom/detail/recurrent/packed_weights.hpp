#pragma once
// The weights of the recurrent operators, packed once for all calls that use them.

#include <array>
#include <span>
#include <type_traits>

#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/core/vector_level.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/panels.hpp>
#include <xloom/detail/recurrent/batch_run.hpp>
#include <xloom/detail/recurrent/operands.hpp>
#include <xloom/detail/recurrent/packing.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

struct for_training_t {
    explicit for_training_t() = default;
};

} // namespace detail

/// Passed to the constructor of a recurrent operator's weights, packs them for the backward pass, too.
inline constexpr detail::for_training_t for_training{};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Requires items with which recurrent operators compute.
template <class Item>
struct recurrent_items {
    static consteval bool holds()
    {
        constexpr bool is_valid = !std::is_integral_v<Item>;
        static_assert(is_valid,
            "a recurrent operator computes with floating-point numbers or user-defined scalars, not "
            "with integers; convert its operands into variables first, by xt::cast<float> for example");
        return is_valid;
    }
};

/// The results of the checks of constants and options.
struct checked_weights {
    recurrent_widths sizes;
    activation_list functions;
};

/// Checks the options and constants of a Family, W [D, gates H, I + C], R [D, gates H, H], B [D, 2 gates H]
/// and, if the family has them, P [D, 3H] and a projection [D, K, H], with which R is [D, gates H, K]. C
/// columns of W are those of an attention. Returns the sizes, with those of the attention, and the
/// activations.
template <class Family, class Constants, class Options>
checked_weights check_cell(std::string_view op, Constants const& in, Options const& options,
    recurrent_widths const& attention = {}, activation_dialect dialect = activation_dialect::onnx)
{
    auto const projection = projection_of(in);
    std::remove_cvref_t<decltype(in.W)> P; // not given
    if constexpr (requires { in.P; })
        P = in.P;
    constexpr std::size_t gates = Family::template backward_rows<double>::gates;
    check_ranks(op, std::array{named("W", in.W), named("R", in.R), named("B", in.B), named("P", P),
                        named("projection", projection)});
    check_options(op, options);
    if (!projection.is_given())
        check_not_transposed(op, gates, shape_if_given(in.W), shape_if_given(in.R));
    recurrent_widths const sizes = check_weights(
        op, options, shape_if_given(in.W), shape_if_given(in.R), attention, shape_if_given(projection));
    std::size_t const C = attention.C, D = sizes.D, I = sizes.I, H = sizes.H, K = sizes.K;
    auto const& [symbolic_W, symbolic_R, symbolic_B] = Family::symbolic_shapes;
    check_shapes(op,
        std::array{
            shape_requirement{
                "W", C == 0 ? symbolic_W : "[D, 4H, I + C]", {D, gates * H, I + C}, in.W.shape()},
            shape_requirement{
                "R", sizes.projects ? "[D, 4H, K]" : symbolic_R, {D, gates * H, K}, in.R.shape()},
            shape_requirement{"B", symbolic_B, {D, 2 * gates * H}, shape_if_given(in.B)},
            shape_requirement{"P", "[D, 3H]", {D, 3 * H}, shape_if_given(P)},
            shape_requirement{"projection", "[D, K, H]", {D, K, H}, shape_if_given(projection)},
        },
        [&] {
            return C == 0 ? describe(sizes) : concat("D = ", D, ", I = ", I, ", H = ", H, " and C = ", C);
        });
    return {sizes, check_activations(op, options, Family::default_activations, dialect)};
}

/// The types of a family, by its kernels, and the checks of its constants. Self is the family.
template <class Self, class Options, template <class> class Rows, template <class> class RecordedRows,
    template <class> class BackwardRows>
struct cell_family {
    using options = Options;
    template <class T>
    using rows = Rows<T>;
    template <class T>
    using recorded_rows = RecordedRows<T>;
    template <class T>
    using backward_rows = BackwardRows<T>;
    template <class T>
    using parameters = typename Rows<T>::parameters;
    template <class T>
    using backward_parameters = typename BackwardRows<T>::parameters;
    template <class T>
    using attributes_type = decltype(parameters<T>::how);

    template <class Constants>
    static checked_weights check_constants(std::string_view op, Constants const& in, Options const& options)
    {
        return check_cell<Self>(op, in, options);
    }
};

/// Packs weights in the type that computes, in the orders of the forward and of the backward pass.
struct training_packing {};

/// Returns the type in which a packing stores weights.
template <class Packing>
weight_storage storage_of(Packing packing) noexcept
{
    if constexpr (std::is_same_v<Packing, stored_packing>)
        return packing.storage;
    else
        return weight_storage::full;
}

/// The parameters of one direction; those of the backward pass are not set but of weights for training.
template <class Forward, class Backward>
struct parameters_of_passes {
    using number = typename Forward::number;

    Forward forward;
    Backward backward;
};

template <class Family, class Item>
using parameters_of_family = parameters_of_passes<typename Family::template parameters<compute_t<Item>>,
    typename Family::template backward_parameters<compute_t<Item>>>;

/// The function that packs the weights of one direction.
template <class Family, class Item, class Packing = full_packing>
struct pack_functions {
    using item = Item;
    using T = compute_t<Item>;
    using parameters = parameters_of_family<Family, Item>;
    using constants_type = typename Family::template constants<Item>;
    using options_type = typename Family::options;

    parameters (*pack)(constants_type const&, checked_weights const&, options_type const&, std::size_t d,
        Packing, kernel::arena<T>&);

    static constexpr pack_functions compiled() noexcept { return {&pack_direction}; }

private:
    static parameters pack_direction(constants_type const& constants, checked_weights const& checked,
        options_type const& options, std::size_t d, Packing packing, kernel::arena<T>& memory)
    {
        if constexpr (std::is_same_v<Packing, training_packing>)
            return {Family::template pack<T>(constants, checked, options, d, full_packing(), memory),
                Family::template pack_backward<T>(constants, checked, options, d, memory)};
        else
            return {Family::template pack<T>(constants, checked, options, d, packing, memory), {}};
    }
};

/// The weights and attributes of a recurrent operator, checked and packed once for many calls. Copies share
/// the memory, moves copy; const members are thread-safe.
///
/// Family is the operator: its names, the types constants<Item> and options of the caller's structs,
/// parameters<T> and backward_parameters<T> of its kernels, check_constants(op, constants, options), which
/// returns `checked`, and pack(constants, checked, options, d, packing, memory) and pack_backward, which
/// return the parameters of direction d.
///
/// Errors    shape_error, option_error: as the operator.
/// Cost      one pass over the weights; memory of their size, with widths padded to whole vectors; of weights
///           for training twice that.
template <class Family, class Item>
class recurrent_weights {
    using T = compute_t<Item>;
    using constants_type = typename Family::template constants<Item>;
    using options_type = typename Family::options;

public:
    recurrent_weights(constants_type const& constants, options_type const& options = {})
        : recurrent_weights(Family::weights_name, constants, options, full_packing())
    {}
    /// Packs matrices in a storage (docs/weights.md).
    ///
    /// Errors    option_error: the storage cannot hold one of their numbers.
    recurrent_weights(constants_type const& constants, options_type const& options, weight_storage storage)
        requires kernel::has_storage_types<T>
        : recurrent_weights(with_packing(storage, false, [&](auto packing) -> recurrent_weights {
              return {Family::weights_name, constants, options, packing};
          }))
    {}
    /// Packs the weights for the backward pass, too, in the order of its products.
    recurrent_weights(constants_type const& constants, options_type const& options, for_training_t)
        : recurrent_weights(Family::weights_name, constants, options, training_packing())
    {}

    /// Packs other constants, in the same storage and orders. Allocates nothing if their sizes are the old
    /// ones, in block storages the number of blocks, too, and no copy shares the memory; copies, and cells
    /// made of these weights, keep the old constants.
    ///
    /// Errors    as the constructor's; the weights are then as before.
    void assign(constants_type const& constants, options_type const& options = {})
    {
        checked_weights const checked = with_packing(storage_, is_for_training_, [&](auto packing) {
            checked_weights const found = checked_in(Family::weights_name, constants, options, packing);
            parameters_.assign(found.sizes.D, packer(found, constants, options, packing));
            return found;
        });
        direction_ = options.direction;
        layout_ = layout_of_options(options);
        checked_ = checked;
    }

    xloom::direction direction() const noexcept { return direction_; }
    std::int64_t layout() const noexcept { return layout_; }
    recurrent_widths const& sizes() const noexcept { return checked_.sizes; }
    vector_level level() const noexcept { return level_; }
    weight_storage storage() const noexcept { return storage_; }
    /// True if the weights are packed for the backward pass, too.
    bool is_for_training() const noexcept { return is_for_training_; }
    /// Returns the number of bytes of the packed weights, which all copies share.
    std::size_t bytes() const noexcept { return parameters_.bytes(); }

private:
    template <class F, class U>
    friend parameters_of_family<F, U> const& parameters_of_passes_of(
        recurrent_weights<F, U> const& weights, std::size_t d) noexcept;

    template <class F, class U>
    friend recurrent_weights<F, U> weights_for(std::string_view op,
        typename F::template constants<U> const& constants, typename F::options const& options);

    template <class Packing>
    recurrent_weights(
        std::string_view op, constants_type const& constants, options_type const& options, Packing packing)
        : direction_(options.direction),
          layout_(layout_of_options(options)),
          storage_(storage_of(packing)),
          is_for_training_(std::is_same_v<Packing, training_packing>),
          checked_(checked_in(op, constants, options, packing)),
          parameters_(checked_.sizes.D, packer(checked_, constants, options, packing))
    {
        static_cast<void>(satisfied<recurrent_items<Item>>());
    }

    /// Calls f with a packing that is known at run time. A constructor that names its packing compiles no
    /// other one.
    template <class F>
    static auto with_packing(weight_storage storage, bool is_for_training, F const& f)
    {
        if constexpr (kernel::has_storage_types<T>)
            if (storage != weight_storage::full)
                return f(stored_packing{storage});
        return is_for_training ? f(training_packing()) : f(full_packing());
    }

    template <class Packing>
    static checked_weights checked_in(
        std::string_view op, constants_type const& constants, options_type const& options, Packing packing)
    {
        checked_weights const checked = Family::check_constants(op, constants, options);
        if constexpr (std::is_same_v<Packing, stored_packing>)
            check_storage(op, packing.storage, constants);
        return checked;
    }

    /// Returns what packs one direction.
    template <class Packing>
    auto packer(checked_weights const& checked, constants_type const& constants, options_type const& options,
        Packing packing) const
    {
        return [&, packing, this](std::size_t d, kernel::arena<T>& memory) {
            return level_.template functions<pack_functions<Family, Item, Packing>>().pack(
                constants, checked, options, d, packing, memory);
        };
    }

    [[no_unique_address]] vector_level level_{};
    xloom::direction direction_;
    std::int64_t layout_;
    weight_storage storage_;
    bool is_for_training_;
    checked_weights checked_;
    shared_parameters<parameters_of_family<Family, Item>> parameters_;
};

/// Returns the weights of a call of the operator `op`, which errors name.
template <class Family, class Item>
recurrent_weights<Family, Item> weights_for(std::string_view op,
    typename Family::template constants<Item> const& constants, typename Family::options const& options)
{
    return {op, constants, options, full_packing()};
}

template <class Family, class Item>
parameters_of_family<Family, Item> const& parameters_of_passes_of(
    recurrent_weights<Family, Item> const& weights, std::size_t d) noexcept
{
    return weights.parameters_[d];
}

/// Returns the kernel's parameters of direction d.
template <class Family, class Item>
auto const& parameters_of(recurrent_weights<Family, Item> const& weights, std::size_t d) noexcept
{
    return parameters_of_passes_of(weights, d).forward;
}

/// Returns the parameters of direction d for the backward pass. Requires weights for training.
template <class Family, class Item>
auto const& backward_parameters_of(recurrent_weights<Family, Item> const& weights, std::size_t d) noexcept
{
    return parameters_of_passes_of(weights, d).backward;
}

/// Returns the block that begins at (first_row, first_column) of matrix d of a tensor [D, .., ..],
/// transposed: its columns are along the depth.
template <class Item>
kernel::strided_matrix<Item> across(
    tensor_ref<Item const> const& from, std::size_t d, std::size_t first_row, std::size_t first_column)
{
    return {item_at(from, d, first_row, first_column), from.stride(2), from.stride(1)};
}

/// Returns the block that begins at (first_row, first_column) of matrix d of a tensor [D, .., ..], not
/// transposed: its rows are along the depth.
template <class Item>
kernel::strided_matrix<Item> along(
    tensor_ref<Item const> const& from, std::size_t d, std::size_t first_row, std::size_t first_column = 0)
{
    kernel::strided_matrix<Item> const matrix = across(from, d, first_row, first_column);
    return {matrix.items, matrix.column_stride, matrix.depth_stride};
}

/// Loads `count` items of a tensor of rank 2: to = from[d, first ..].
template <class T, class Item>
void load_row(tensor_ref<Item const> const& from, std::size_t d, std::size_t first, std::size_t count, T* to)
{
    kernel::copy_row<Item, T>({item_at(from, d, first), from.stride(1)}, count, {to});
}

/// Computes to = B[d, first ..] + B[d, second ..], H items of each; leaves the initial zeros if B is omitted.
template <class T, class Item>
void load_bias(tensor_ref<Item const> const& B, std::size_t d, std::size_t first, std::size_t second,
    std::size_t H, T* to)
{
    if (!B.is_given())
        return;
    for (std::size_t j = 0; j < H; ++j)
        to[j] = static_cast<T>(*item_at(B, d, first + j)) + static_cast<T>(*item_at(B, d, second + j));
}

/// Packs W [D, Gates H, ..] with its first I columns, the first R_gates gates of R [D, Gates H, K], and the
/// sums of the biases, of which `bias` is the memory.
template <std::size_t Gates, class T, class Constants, class Packing>
kernel::cell_parameters<T, Gates> pack_gates(Constants const& in, recurrent_widths const& sizes,
    std::size_t d, Packing packing, T* bias, kernel::arena<T>& memory, std::size_t R_gates = Gates)
{
    std::size_t const I = sizes.I, H = sizes.H, stride = kernel::whole_batches<T>(H);
    for (std::size_t gate = 0; gate < Gates && !memory.only_counts(); ++gate)
        load_bias(in.B, d, gate * H, (Gates + gate) * H, H, bias + gate * stride);
    auto const pack = [&](auto const& from, std::size_t depth, std::size_t gates) {
        return pack_matrix(
            packing, kernel::matrix_parts(across(from, d, 0, 0), depth, H, gates, stride), memory);
    };
    return {.I = I,
        .H = H,
        .gate_stride = stride,
        .h_stride = kernel::whole_batches<T>(sizes.K),
        .W = pack(in.W, I, Gates),
        .R = pack(in.R, sizes.K, R_gates),
        .bias = bias};
}

/// Packs the rows of some gates of a tensor [D, gates H, ..], in the order of `gates`, for products with
/// their transpose: its columns [first_column, first_column + columns).
template <class T, class Item>
kernel::panels<T> pack_transposed(tensor_ref<Item const> const& from, std::size_t d, std::size_t H,
    std::span<std::size_t const> gates, std::size_t columns, kernel::arena<T>& memory,
    std::size_t first_column = 0)
{
    std::size_t const stride = kernel::whole_batches<T>(H);
    std::size_t const depth = gates.size() * stride;
    kernel::panel_writer<T> const to{memory.take(depth, kernel::whole_batches<T>(columns)), depth, columns};
    for (std::size_t i = 0; i < gates.size() && !memory.only_counts(); ++i)
        pack_panels(along(from, d, gates[i] * H, first_column), H, columns, to, i * stride);
    return to.packed();
}

template <class T>
kernel::gate<T> gate_of(activation_function const& function, std::optional<double> const& clip)
{
    return {function, static_cast<T>(clip.value_or(0)), clip.has_value()};
}

} // namespace xloom::inline XLOOM_ABI::detail
