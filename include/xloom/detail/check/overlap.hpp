#pragma once
// The requirement on memory that is written: no other operand shares it, except an input that is the same
// tensor, where the operator allows it.

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <xloom/detail/core/compiler.hpp>
#include <xloom/detail/core/overlap.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The memory of an operand and, for inputs and outputs, its time axis and direction.
struct traversal {
    memory_block memory{};
    std::size_t axis = 0;
    bool reverse = false;
};

/// True if both are the same tensor, or views of the same items in the same order. Containers differ in the
/// stride of an axis of length 1, which no item depends on.
constexpr bool is_same_memory(memory_block const& a, memory_block const& b)
{
    shape const& dims = a.layout.dims;
    if (a.address != b.address || a.item_bytes != b.item_bytes || dims != b.layout.dims)
        return false;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        if (dims[axis] != 1 && a.layout.strides[axis] != b.layout.strides[axis])
            return false;
    return true;
}

/// The name of an operand in error texts and its memory, which must outlive it. An operand that is written
/// may be the same tensor as one that is read if both have one `may_be`, which is the name if it is omitted.
class operand_memory {
public:
    constexpr operand_memory() = default;

    /// Refers to the memory of an operand; null: the operand is omitted. It has no layout if its rank exceeds
    /// max_rank.
    constexpr operand_memory(
        std::string_view name, memory_block const* memory, std::string_view may_be = {}, std::size_t rank = 0)
        : name_(name),
          memory_(memory),
          bytes_(memory == nullptr ? byte_range() : bytes_of(*memory)),
          may_be_(may_be.empty() ? name : may_be),
          rank_(rank)
    {}
    constexpr operand_memory(std::string_view name, memory_block const& memory, std::string_view may_be = {})
        : operand_memory(name, &memory, may_be)
    {}
    constexpr operand_memory(std::string_view, memory_block&&, std::string_view = {}) = delete;

    /// Refers to operand `number` of several.
    constexpr operand_memory(
        std::string_view name, std::size_t number, traversal const& traversed, std::string_view may_be = {})
        : operand_memory(name, &traversed.memory, may_be)
    {
        number_ = number;
        axis_ = traversed.axis;
        reverse_ = traversed.reverse;
    }

    constexpr bool is_given() const noexcept { return memory_ != nullptr; }
    constexpr std::string_view name() const noexcept { return name_; }
    constexpr std::size_t rank() const noexcept { return rank_; }
    constexpr strided_layout const& layout() const noexcept { return memory_->layout; }
    constexpr shape const& dims() const noexcept { return memory_->layout.dims; }

    /// True if the ranges of their bytes intersect.
    constexpr bool intersects(operand_memory const& other) const noexcept
    {
        return intersect(bytes_, other.bytes_);
    }
    /// True if the two share a byte. Requires that they intersect.
    constexpr bool overlaps(operand_memory const& other) const { return overlap(*memory_, *other.memory_); }
    /// True if both are the same tensor.
    constexpr bool is_same_tensor(operand_memory const& other) const
    {
        return is_same_memory(*memory_, *other.memory_);
    }
    /// True if the two may be the same tensor, traversed alike.
    constexpr bool may_be(operand_memory const& other) const noexcept { return may_be_ == other.may_be_; }
    constexpr bool is_allowed_alias(operand_memory const& other) const
    {
        return may_be(other) && is_same_tensor(other) && axis_ == other.axis_ && reverse_ == other.reverse_;
    }

    /// Returns the name, followed by the number if there are several operands of that name.
    std::string full_name() const
    {
        return number_ == only_one ? std::string(name_) : concat(name_, "[", number_, "]");
    }

private:
    static constexpr std::size_t only_one = static_cast<std::size_t>(-1);

    std::string_view name_{};
    memory_block const* memory_ = nullptr;
    byte_range bytes_{};
    std::size_t number_ = only_one;
    std::size_t axis_ = 0;
    bool reverse_ = false;
    std::string_view may_be_{};
    std::size_t rank_ = 0;
};

/// Returns operands of one name, which are numbered in error texts.
template <std::size_t N>
constexpr std::array<operand_memory, N> numbered(
    std::string_view name, std::array<traversal, N> const& traversed, std::string_view may_be = {})
{
    std::array<operand_memory, N> all{};
    for (std::size_t i = 0; i < N; ++i)
        all[i] = {name, i, traversed[i], may_be};
    return all;
}

/// Returns the operands of all groups.
template <class... Groups>
constexpr auto all_operands(Groups const&... groups)
{
    std::array<operand_memory, (decltype(std::span(groups))::extent + ... + 0)> all{};
    auto end = all.begin();
    ((end = std::copy(groups.begin(), groups.end(), end)), ...);
    return all;
}

/// Calls found(written, other, may_be_one) for every pair that shares a byte but must not; may_be_one: both
/// may be the same tensor, traversed alike. A tensor that is updated in place is not searched for a byte.
template <class Found>
constexpr void find_shared_memory(
    std::span<operand_memory const> written, std::span<operand_memory const> read, Found&& found)
{
    for (std::size_t i = 0; i < written.size(); ++i) {
        for (operand_memory const& other : written.subspan(i + 1))
            if (written[i].intersects(other) && written[i].overlaps(other))
                found(written[i], other, false);
        for (operand_memory const& other : read)
            if (written[i].intersects(other) && !written[i].is_allowed_alias(other) &&
                written[i].overlaps(other))
                found(written[i], other, written[i].may_be(other));
    }
}

[[noreturn]] inline void fail_shared_memory(
    std::string_view op, std::span<operand_memory const> written, std::span<operand_memory const> read)
{
    fact_list pairs;
    bool has_alias = false, has_same_tensor = false;
    find_shared_memory(written, read, [&](operand_memory const& a, operand_memory const& b, bool may_be_one) {
        pairs.add(a.full_name(), " overlaps ", b.full_name());
        has_alias |= may_be_one;
        has_same_tensor |= may_be_one && a.is_same_tensor(b);
    });
    fail<overlap_error>(op, ": an operand that is written must have memory of its own, but ", pairs,
        ". Copy one of the two",
        has_same_tensor ? ", or give both the same axis and direction."
        : has_alias     ? ", or pass one tensor as both."
                        : ".");
}

/// Requires that no two items of an operand that is written share memory, and that it shares none with
/// another operand, unless both may be and are the same tensor. Omitted operands share nothing.
///
/// Errors    overlap_error: every pair is named.
/// Cost      a few ns for each pair whose byte ranges do not intersect.
XLOOM_NOINLINE constexpr void check_written(
    std::string_view op, std::span<operand_memory const> written, std::span<operand_memory const> read)
{
    bool is_shared = false;
    find_shared_memory(
        written, read, [&](operand_memory const&, operand_memory const&, bool) { is_shared = true; });
    if (is_shared)
        fail_shared_memory(op, written, read);
    for (operand_memory const& operand : written)
        if (operand.is_given() && !is_unique(operand.layout()))
            fail<overlap_error>(op, ": every item of ", operand.full_name(),
                " must have memory of its own, but ", operand.full_name(), " has the shape ", operand.dims(),
                " and the strides ", operand.layout().strides, ". Write to a container.");
}

/// Requires that the states and outputs of a scan in place have memory of their own; an output may be the
/// tensor of an input, along the same axis in the same direction. `rows` is read row by row, if there is one.
///
/// Errors    overlap_error
template <std::size_t N, std::size_t M, std::size_t K, std::same_as<operand_memory>... Rows>
constexpr void check_in_place(std::string_view op, std::array<traversal, N> const& states,
    std::array<traversal, M> const& inputs, std::array<traversal, K> const& outputs, Rows const&... rows)
{
    [&]<std::size_t... S, std::size_t... X, std::size_t... Y>(
        std::index_sequence<S...>, std::index_sequence<X...>, std::index_sequence<Y...>) {
        check_written(op,
            std::array<operand_memory, N + K>{operand_memory("states", S, states[S])...,
                operand_memory("scan_outputs", Y, outputs[Y], "scan_inputs")...},
            std::array<operand_memory, M + sizeof...(Rows)>{
                operand_memory("scan_inputs", X, inputs[X])..., rows...});
    }(std::make_index_sequence<N>(), std::make_index_sequence<M>(), std::make_index_sequence<K>());
}

/// The names of a call in error texts: of the operator, of the tensor that is indexed, and of the values that
/// are written to it.
struct indexed_names {
    std::string_view op;
    std::string_view data = "data";
    std::string_view updates = "updates";

    constexpr indexed_names(std::string_view op_name) : op(op_name) {}
    constexpr indexed_names(
        std::string_view op_name, std::string_view data_name, std::string_view updates_name = "updates")
        : op(op_name), data(data_name), updates(updates_name)
    {}

    constexpr operator std::string_view() const noexcept { return op; }
};

} // namespace xloom::inline XLOOM_ABI::detail
