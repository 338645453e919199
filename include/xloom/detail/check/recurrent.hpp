#pragma once
// Requirements of the recurrent operators on shapes, lengths and options.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <xloom/detail/check/lengths.hpp>
#include <xloom/detail/check/overlap.hpp>
#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/activation.hpp>
#include <xloom/detail/core/direction.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>
#include <xloom/detail/core/static_vector.hpp>

namespace xloom::inline XLOOM_ABI {

/// The sizes of a batch: T time steps, N rows, and S steps of the memory that AttnLSTM attends to.
struct batch_sizes {
    std::size_t T = 0, N = 0, S = 0;
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// The sizes of weights: D directions, I input, H hidden, K state h (H unless it is projected); with
/// attention, A attention size, E memory depth, C attention state (L with an attention layer, else E).
struct recurrent_widths {
    std::size_t D = 1, I = 0, H = 0, K = 0, A = 0, E = 0, C = 0;
    bool attends = false, has_layer = false, projects = false;
};

/// Rejects weights whose last two axes are transposed, as in Keras: [D, I, gates H] and [D, H, gates H].
constexpr void check_not_transposed(std::string_view op, std::size_t gates, shape_ref W, shape_ref R)
{
    if (!W || !R || W->size() != 3 || R->size() != 3)
        return;
    auto const is_transposed = [&](shape const& dims, std::size_t H) {
        return dims[1] != gates * H && dims[2] == gates * H;
    };
    bool const is_R_transposed = is_transposed(*R, (*R)[1]);
    bool const is_W_transposed = is_transposed(*W, is_R_transposed ? (*R)[1] : (*R)[2]);
    if (is_W_transposed || is_R_transposed)
        fail<shape_error>(op, ": the axis of the gates must come before the last one in W and R, but W is ",
            *W, " and R is ", *R, ". Exchange the last two axes of ",
            is_W_transposed && is_R_transposed ? "both"
            : is_W_transposed                  ? "W"
                                               : "R",
            " by xt::transpose and a copy.");
}

/// The name of an operand and its shape, if it is given.
struct named_shape {
    std::string_view operand;
    shape_ref dims;
};

/// Checks W [D, gates H, I + C] and R [D, gates H, H], or R [D, gates H, K] and a projection [D, K, H], and
/// returns D, I, H and K with the sizes of an attention, of which C is one.
template <class Options>
constexpr recurrent_widths check_weights(std::string_view op, Options const& options, shape_ref W,
    shape_ref R, recurrent_widths sizes = {}, shape_ref projection = {})
{
    check_given(op, "W", W, 3);
    check_given(op, "R", R, 3);
    std::size_t const K = (*R)[2], width = (*W)[2];
    std::size_t H = K;
    named_shape of_H{"R", R};
    if (projection) {
        check_given(op, "projection", projection, 3);
        H = (*projection)[2];
        of_H = {"projection", projection};
    }
    if (options.hidden_size &&
        (*options.hidden_size < 1 || static_cast<std::uint64_t>(*options.hidden_size) != H))
        fail<option_error>(op, ": hidden_size must be ", of_H.operand,
            "'s last dimension, but hidden_size is ", *options.hidden_size, " and ", of_H.operand, " is ",
            *of_H.dims, ". Correct one of them.");
    if (H == 0)
        fail<shape_error>(op, ": H must be at least 1, but ", of_H.operand, " is ", *of_H.dims,
            ". Give the states a length.");
    if (K == 0)
        fail<shape_error>(op, ": K must be at least 1, but R is ", *R, ". Give the states a length.");
    if (!has_strides(
            {direction_count(options.direction), 8, H, (std::max)({H, K, width})})) // B has 8H numbers
        fail<shape_error>(
            op, ": the weights must fit in memory, but W is ", *W, " and R is ", *R, ". Reduce them.");
    if (width < sizes.C)
        fail<shape_error>(op, ": W must be at least as wide as the attention state, C = ", sizes.C,
            ", but W is ", *W, ". Give W [D, 4H, I + C].");
    sizes.D = direction_count(options.direction);
    sizes.I = width - sizes.C;
    sizes.H = H;
    sizes.K = K;
    sizes.projects = static_cast<bool>(projection);
    return sizes;
}

inline std::string describe(recurrent_widths const& sizes)
{
    return sizes.projects
               ? concat("D = ", sizes.D, ", I = ", sizes.I, ", H = ", sizes.H, " and K = ", sizes.K)
               : concat("D = ", sizes.D, ", I = ", sizes.I, " and H = ", sizes.H);
}

/// Returns the option layout; 0 for AttnLSTM, which does not have it.
template <class Options>
constexpr std::int64_t layout_of_options(Options const& options)
{
    if constexpr (requires { options.layout; })
        return options.layout;
    else
        return 0;
}

/// Checks clip, layout and direction, which all recurrent operators have.
template <class Options>
constexpr void check_options(std::string_view op, Options const& options)
{
    if (options.clip && !(*options.clip > 0))
        fail<option_error>(op, ": clip must be greater than 0, but clip is ", std::to_string(*options.clip),
            ". Omit it for no limit.");
    if (std::int64_t const layout = layout_of_options(options); layout != 0 && layout != 1)
        fail<option_error>(op, ": layout must be 0 or 1, but layout is ", layout,
            ". Choose 1 where the batch axis comes first.");
    if (options.direction != direction::forward && options.direction != direction::reverse &&
        options.direction != direction::bidirectional)
        fail<option_error>(op, ": direction must be forward, reverse or bidirectional, but it is ",
            static_cast<int>(options.direction), ". Choose one of them.");
}

/// Requires that a list has at most as many numbers as its capacity.
template <class List>
constexpr void check_list(std::string_view op, std::string_view operand, List const& list)
{
    if (list.given() > list.capacity())
        fail<option_error>(op, ": ", operand, " may have at most ", list.capacity(), " numbers, but it has ",
            list.given(), ". Give fewer.");
}

/// Returns the activations of all directions: those of the options, or the defaults.
template <class Options>
constexpr activation_list check_activations(std::string_view op, Options const& options,
    std::span<std::string_view const> defaults, activation_dialect dialect)
{
    std::size_t const D = direction_count(options.direction);
    std::size_t const count = options.activations.given();
    if (count != 0 && count != D * defaults.size())
        fail<option_error>(op, ": there must be ", defaults.size(),
            " activations for each direction, but direction is ", name_of(options.direction),
            " and activations has ", count, ". Give ", D * defaults.size(), " or none.");
    check_list(op, "activation_alpha", options.activation_alpha);
    check_list(op, "activation_beta", options.activation_beta);
    activation_list const own = parse_activations(
        op, options.activations, options.activation_alpha, options.activation_beta, dialect);
    if (count != 0)
        return own;
    activation_list all;
    for (std::size_t d = 0; d < D; ++d)
        for (activation_function const& function : parse_activations(op, defaults))
            all.push_back(function);
    return all;
}

inline std::string describe(recurrent_widths const& sizes, batch_sizes const& batch)
{
    std::string const all = concat("T = ", batch.T, ", N = ", batch.N, ", D = ", sizes.D);
    return sizes.projects ? concat(all, ", H = ", sizes.H, " and K = ", sizes.K)
                          : concat(all, " and H = ", sizes.H);
}

/// Requires that the size of N rows of inputs and states does not overflow, nor that of the lists with the
/// lengths and the operands of each row.
constexpr void check_rows(std::string_view op, recurrent_widths const& sizes, std::size_t N)
{
    constexpr std::size_t in_lists = 16;
    if (!has_strides({N, sizes.D, sizes.I + sizes.H + sizes.K + in_lists}, sizeof(double)))
        fail<shape_error>(op, ": the states must fit in memory, but N = ", N, ", ", describe(sizes),
            ". Choose fewer rows.");
}

/// True if the size of Y in bytes does not overflow.
constexpr bool has_output(recurrent_widths const& sizes, batch_sizes const& batch)
{
    return has_strides({batch.T, sizes.D, batch.N, sizes.K}, sizeof(double));
}

/// Requires that the sizes of Y and of the states do not overflow.
constexpr void check_batch_sizes(std::string_view op, recurrent_widths const& sizes, batch_sizes const& batch)
{
    if (!has_output(sizes, batch))
        fail<shape_error>(
            op, ": Y must fit in memory, but ", describe(sizes, batch), ". Choose smaller sizes.");
    check_rows(op, sizes, batch.N);
}

/// Checks X [T, N, I], in layout 1 [N, T, I], and returns T and N.
constexpr batch_sizes check_X(
    std::string_view op, shape const& X, recurrent_widths const& sizes, std::int64_t layout)
{
    if (X.size() != 3 || X[2] != sizes.I)
        fail<shape_error>(op, ": X must have the shape ", layout == 0 ? "[T, N, I]" : "[N, T, I]",
            " with I = ", sizes.I, ", the last axis of W",
            sizes.C == 0 ? std::string() : concat(" less C = ", sizes.C), ", but X is ", X,
            ". Give X that shape.");
    batch_sizes const batch = layout == 0 ? batch_sizes{X[0], X[1]} : batch_sizes{X[1], X[0]};
    if (!has_output(sizes, batch))
        fail<shape_error>(op, ": Y must fit in memory, but X is ", X, ", D = ", sizes.D, " and ",
            sizes.projects ? "K = " : "H = ", sizes.K, ". Reduce its dimensions.");
    check_rows(op, sizes, batch.N);
    return batch;
}

/// The shapes of states and outputs, as they are and symbolic: h [D, N, H], c [D, N, H], Y [T, D, N, H], with
/// a projection h [D, N, K] and Y [T, D, N, K]; in layout 1 [N, D, H] and [N, T, D, H].
struct recurrent_shapes {
    std::string_view symbolic_Y, symbolic_h, symbolic_c;
    shape Y, h, c;
};

constexpr recurrent_shapes shapes_of_outputs(
    recurrent_widths const& sizes, batch_sizes const& batch, std::int64_t layout)
{
    std::size_t const T = batch.T, D = sizes.D, N = batch.N, H = sizes.H, K = sizes.K;
    if (layout == 0)
        return {sizes.projects ? "[T, D, N, K]" : "[T, D, N, H]", sizes.projects ? "[D, N, K]" : "[D, N, H]",
            "[D, N, H]", {T, D, N, K}, {D, N, K}, {D, N, H}};
    return {sizes.projects ? "[N, T, D, K]" : "[N, T, D, H]", sizes.projects ? "[N, D, K]" : "[N, D, H]",
        "[N, D, H]", {N, T, D, K}, {N, D, K}, {N, D, H}};
}

/// Checks the states h and c. `describe` returns the sizes that an error cites.
template <class Describe>
constexpr void check_states(
    std::string_view op, recurrent_shapes const& shapes, shape_ref h, shape_ref c, Describe const& describe)
{
    if ((!h || *h == shapes.h) && (!c || *c == shapes.c)) [[likely]]
        return;
    check_shapes(op,
        std::array{shape_requirement{"initial_h", shapes.symbolic_h, shapes.h, h},
            shape_requirement{"initial_c", shapes.symbolic_c, shapes.c, c}},
        describe);
}

} // namespace xloom::inline XLOOM_ABI::detail
