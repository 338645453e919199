#pragma once
// Shape requirements of the derivative of ScatterND.

#include <optional>
#include <string_view>

#include <xloom/detail/check/scatter_nd.hpp>

namespace xloom::inline XLOOM_ABI {

/// The handling of several values that equal the maximum or the minimum of a slot: each gets an even part of
/// the cotangent, or the first one in the order of application, the old value before all updates, gets it.
enum class ties : unsigned char { even, first };

/// Options of scatter_nd_vjp: those of the scatter_nd that is differentiated, and `ties`.
/// accumulate_in_float is missing: the rounding of intermediate values has no derivative.
struct scatter_nd_vjp_options {
    xloom::bounds bounds = xloom::bounds::check;
    xloom::duplicates duplicates = xloom::duplicates::last;
    bool include_self = true;
    xloom::ties ties = xloom::ties::even; ///< of max and min; the others have none
    bool unique = false;                  ///< the caller guarantees that no slice is indexed twice
    bool sorted = false;                  ///< the caller guarantees that the slices are in row-major order
};

} // namespace xloom::inline XLOOM_ABI

namespace xloom::inline XLOOM_ABI::detail {

/// Returns the options of the scatter that is differentiated.
constexpr scatter_rules forward_options(reduction kind, scatter_nd_vjp_options const& options)
{
    return {.reduction = kind,
        .bounds = options.bounds,
        .duplicates = options.duplicates,
        .include_self = options.include_self,
        .unique = options.unique,
        .sorted = options.sorted};
}

/// Checks what ScatterND itself does not have: the shape of ct, and ties.
///
/// Errors    shape_error: ct does not have data's shape.  option_error: ties is no enumerator.
[[gnu::noinline]] constexpr void check_scatter_nd_vjp(
    std::string_view op, shape const& ct, shape const& data, scatter_nd_vjp_options const& options)
{
    if (ct != data)
        detail::fail<shape_error>(op,
            ": ct must have the shape of scatter_nd's result, which is data's, but ct is ", ct,
            " and data is ", data, ". Give it that shape.");
    if (options.ties > ties::first)
        detail::fail<option_error>(op, ": options.ties must be even or first, but it is number ",
            static_cast<int>(options.ties), ". Choose one.");
}

/// The memory of the operands of a call; that of an omitted output is std::nullopt.
struct scatter_nd_vjp_memory {
    memory_block ct, data, indices, updates;
    std::optional<memory_block> ct_data{}, ct_updates{};
};

/// Calls found(name, name) for every output that shares memory with an operand or the other output but must
/// not: ct_data may be the tensor ct.
template <class Found>
constexpr void find_shared_outputs(scatter_nd_vjp_memory const& memory, Found&& found)
{
    auto const visit = [&](std::string_view name, std::optional<memory_block> const& output, bool may_be_ct) {
        if (!output)
            return;
        if (overlap(*output, memory.ct) && !(may_be_ct && is_same_memory(*output, memory.ct)))
            found(name, "ct");
        if (overlap(*output, memory.data))
            found(name, "data");
        if (overlap(*output, memory.indices))
            found(name, "indices");
        if (overlap(*output, memory.updates))
            found(name, "updates");
    };
    visit("ct_data", memory.ct_data, true);
    visit("ct_updates", memory.ct_updates, false);
    if (memory.ct_data && memory.ct_updates && overlap(*memory.ct_data, *memory.ct_updates))
        found("ct_data", "ct_updates");
}

inline fact_list describe_shared_outputs(scatter_nd_vjp_memory const& memory)
{
    fact_list pairs;
    find_shared_outputs(memory, [&](auto output, auto other) { pairs.add(output, " overlaps ", other); });
    return pairs;
}

/// Checks the shapes and the memory of the outputs.
///
/// Errors    shape_error: an output does not have the shape of its operand.  overlap_error: an output shares
///           memory with an operand or the other output, unless ct_data is the tensor ct, or two of its items
///           do with each other.
[[gnu::noinline]] constexpr void check_scatter_nd_vjp_outputs(
    std::string_view op, scatter_nd_vjp_memory const& memory)
{
    auto const check_one = [=](std::string_view name, std::optional<memory_block> const& output,
                               std::string_view operand, memory_block const& expected) {
        if (output && output->layout.dims != expected.layout.dims)
            detail::fail<shape_error>(op, ": ", name, " must have the shape of ", operand, ", ",
                expected.layout.dims, ", but it is ", output->layout.dims, ". Give it that shape.");
        if (output)
            detail::check_unique(op, name, output->layout, "Write to a container.");
    };
    check_one("ct_data", memory.ct_data, "data", memory.data);
    check_one("ct_updates", memory.ct_updates, "updates", memory.updates);
    bool is_shared = false;
    detail::find_shared_outputs(memory, [&](auto, auto) { is_shared = true; });
    if (is_shared)
        detail::fail<overlap_error>(op,
            ": an output must have exclusive memory, or ct_data be the tensor ct, but ",
            detail::describe_shared_outputs(memory), ". Copy one of the two.");
}

} // namespace xloom::inline XLOOM_ABI::detail
