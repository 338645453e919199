#pragma once
// Requirements of linear_attention on its shapes and options.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/error.hpp>
#include <xloom/detail/core/shape.hpp>

namespace xloom::inline XLOOM_ABI {

/// The rules by which a token updates the state of linear attention, under ONNX's names.
enum class update_rule : unsigned char { linear, gated, delta, gated_delta };

/// Returns the value of ONNX's attribute, such as "gated_delta".
constexpr std::string_view name_of(update_rule rule) noexcept
{
    constexpr std::string_view names[] = {"linear", "gated", "delta", "gated_delta"};
    auto const number = static_cast<std::size_t>(rule);
    return number < std::size(names) ? names[number] : "unknown";
}

/// Options of linear_attention and its derivative: ONNX's attributes.
struct linear_attention_options {
    std::int64_t q_num_heads = 0;  ///< query heads; 0 where operands have an axis of heads
    std::int64_t kv_num_heads = 0; ///< heads of keys and values, a divisor of q_num_heads; likewise
    xloom::update_rule update_rule = xloom::update_rule::gated_delta;
    double scale = 0; ///< a factor of the outputs; 0 for 1 / sqrt(d_k)
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

constexpr bool has_decay(update_rule rule)
{
    return rule == update_rule::gated || rule == update_rule::gated_delta;
}
constexpr bool has_beta(update_rule rule)
{
    return rule == update_rule::delta || rule == update_rule::gated_delta;
}

/// The sizes of linear attention: B sequences of T tokens, Hq query heads, Hkv heads of keys and values, of
/// d_k and d_v numbers each.
struct attention_sizes {
    std::size_t B = 0, T = 0, Hq = 0, Hkv = 0, keys = 0, values = 0;
    bool has_head_axis = false; ///< of query, key, value, a decay of keys, and the output

    /// Returns the shape of an operand of `heads` heads of `width` numbers.
    constexpr shape tokens(std::size_t heads, std::size_t width) const
    {
        return has_head_axis ? shape{B, T, heads, width} : shape{B, T, heads * width};
    }
    constexpr shape output() const { return tokens(Hq, values); }
    constexpr shape state() const { return {B, Hkv, keys, values}; }

    std::string describe() const
    {
        return concat("B = ", B, ", T = ", T, ", q_num_heads = ", Hq, ", kv_num_heads = ", Hkv,
            ", d_k = ", keys, " and d_v = ", values);
    }
};

/// The shapes of the operands of linear attention.
struct attention_shapes {
    shape_ref query, key, value, past_state, decay, beta;
};

/// Returns the number of heads of an operand: its axis of heads, which an option may repeat, else the option.
constexpr std::size_t heads_of(std::string_view op, std::string_view operand, shape const& dims,
    std::string_view option, std::int64_t given)
{
    bool const has_axis = dims.size() == 4;
    if (given < (has_axis ? 0 : 1))
        fail<option_error>(op, ": ", option, " must be at least 1, but it is ", given,
            ". Give the number of heads in ", operand, ".");
    auto const heads = static_cast<std::uint64_t>(given);
    if (has_axis && given != 0 && heads != dims[2])
        fail<option_error>(op, ": ", option, " must be ", operand, "'s axis of heads, but it is ", given,
            " and ", operand, " is ", dims, ". Omit it.");
    if (!has_axis && dims[2] % heads != 0)
        fail<shape_error>(op, ": the last dimension of ", operand, " must be a multiple of ", option, " = ",
            given, ", but ", operand, " is ", dims, ". Correct one of them.");
    return has_axis ? dims[2] : static_cast<std::size_t>(heads);
}

/// Requires an operand where the rule has it, and none elsewhere.
constexpr void check_rule_operand(
    std::string_view op, std::string_view operand, shape_ref dims, update_rule rule, bool is_required)
{
    if (is_required && !dims)
        fail<shape_error>(op, ": the rule ", name_of(rule), " requires ", operand,
            ", but it is omitted. Give ", operand, ", or choose another update_rule.");
    if (!is_required && dims)
        fail<shape_error>(op, ": the rule ", name_of(rule), " has no ", operand, ", but it is ", *dims,
            ". Omit it, or choose another update_rule.");
}

/// Requires one of two shapes.
constexpr void check_either(std::string_view op, std::string_view operand, shape_ref dims, shape const& one,
    std::string_view one_symbol, shape const& other, std::string_view other_symbol)
{
    if (dims && *dims != one && *dims != other)
        fail<shape_error>(op, ": ", operand, " must have the shape ", one_symbol, " = ", one, " or ",
            other_symbol, " = ", other, ", but it is ", *dims, ". Correct it.");
}

/// Returns the sizes of query, key and value, which have three axes each, or four.
///
/// Errors    shape_error, option_error: the numbers of heads.
constexpr attention_sizes attention_sizes_of(std::string_view op, linear_attention_options const& options,
    shape const& query, shape const& key, shape const& value)
{
    attention_sizes sizes;
    sizes.has_head_axis = query.size() == 4;
    sizes.B = query[0];
    sizes.T = query[1];
    sizes.Hq = detail::heads_of(op, "query", query, "q_num_heads", options.q_num_heads);
    sizes.Hkv = detail::heads_of(op, "key", key, "kv_num_heads", options.kv_num_heads);
    detail::heads_of(op, "value", value, "kv_num_heads", options.kv_num_heads);
    if (sizes.Hkv == 0 || sizes.Hq == 0 || sizes.Hq % sizes.Hkv != 0)
        fail<option_error>(op,
            ": the number of query heads must be a multiple of that of key heads, but they "
            "are ",
            sizes.Hq, " and ", sizes.Hkv, ". Correct one of them.");
    sizes.keys = sizes.has_head_axis ? query[3] : query[2] / sizes.Hq;
    sizes.values = sizes.has_head_axis ? value[3] : value[2] / sizes.Hkv;
    if (sizes.keys == 0)
        fail<shape_error>(op, ": d_k must be at least 1, but query is ", query, ". Give the heads keys.");
    return sizes;
}

/// Checks all operands, whose items have at most item_bytes bytes, and returns the sizes.
///
/// Errors    shape_error, option_error
constexpr attention_sizes check_linear_attention(std::string_view op, linear_attention_options const& options,
    attention_shapes const& of, std::size_t item_bytes)
{
    shape const& query = *of.query;
    if (query.size() != 3 && query.size() != 4)
        fail<shape_error>(op,
            ": query must have the shape [B, T, Hq d_k], or [B, T, Hq, d_k] with an axis of "
            "heads, but query is ",
            query, ". Give it that shape.");
    check_given(op, "key", of.key, query.size());
    check_given(op, "value", of.value, query.size());
    if (name_of(options.update_rule) == "unknown")
        fail<option_error>(op, ": update_rule must be linear, gated, delta or gated_delta, but it is ",
            static_cast<int>(options.update_rule), ". Choose one of them.");
    attention_sizes const sizes = detail::attention_sizes_of(op, options, query, *of.key, *of.value);
    std::string_view const key_symbol = sizes.has_head_axis ? "[B, T, Hkv, d_k]" : "[B, T, Hkv d_k]",
                           value_symbol = sizes.has_head_axis ? "[B, T, Hkv, d_v]" : "[B, T, Hkv d_v]";
    shape const keys = sizes.tokens(sizes.Hkv, sizes.keys);
    check_shapes(op,
        std::array{
            shape_requirement{"key", key_symbol, keys, of.key},
            shape_requirement{"value", value_symbol, sizes.tokens(sizes.Hkv, sizes.values), of.value},
            shape_requirement{"past_state", "[B, Hkv, d_k, d_v]", sizes.state(), of.past_state},
        },
        [&] { return sizes.describe(); });
    detail::check_rule_operand(
        op, "decay", of.decay, options.update_rule, detail::has_decay(options.update_rule));
    detail::check_rule_operand(
        op, "beta", of.beta, options.update_rule, detail::has_beta(options.update_rule));
    shape const heads{sizes.B, sizes.T, sizes.Hkv};
    detail::check_either(op, "decay", of.decay, heads, "[B, T, Hkv]", keys, key_symbol);
    detail::check_either(op, "beta", of.beta, heads, "[B, T, Hkv]", {sizes.B, sizes.T, 1}, "[B, T, 1]");
    for (shape const& dims : {shape{sizes.B, sizes.T, sizes.Hq, sizes.keys},
             shape{sizes.B, sizes.T, sizes.Hq, sizes.values}, sizes.state()})
        if (!has_strides(dims, item_bytes))
            fail<shape_error>(op, ": operands and results must fit in memory, but ", sizes.describe(),
                ". Choose smaller sizes.");
    return sizes;
}

} // namespace xloom::inline XLOOM_ABI::detail
