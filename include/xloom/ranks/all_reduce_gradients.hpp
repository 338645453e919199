#pragma once
// Sums of gradients over the micro-batches of all ranks, in an order that does not depend on the ranks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/check/distributed_axis.hpp>
#include <xloom/detail/check/linear_recurrence.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/partition.hpp>
#include <xloom/detail/core/requirement.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/prefix/associative_scan_types.hpp>
#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/parallel/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// True if gradients and their sums are tensors of one element type each.
template <class Gradients, class Sums>
inline constexpr bool are_gradients = false;
template <class... Gs, class... Ss>
    requires(sizeof...(Gs) == sizeof...(Ss))
inline constexpr bool are_gradients<std::tuple<Gs...>, std::tuple<Ss...>> =
    ((std::same_as<item_t<Gs>, item_t<Ss>> && std::is_trivially_copyable_v<item_t<Ss>> &&
        has_identity<reduce_add_t, item_t<Ss>>)&&...);

/// True if the types of a call of all_reduce_gradients are valid, otherwise a compile-time error of one
/// sentence.
template <class Gradients, class Sums, class Policy>
consteval bool is_valid_all_reduce()
{
    if constexpr (!execution_policy<Policy>)
        static_assert(never<Policy>, "xloom::all_reduce_gradients: the arguments are "
                                     "all_reduce_gradients(gradients, sums, batches[, policy])");
    else if constexpr (!is_flat<bare<Gradients>> || !are_scannable<leaves_t<Gradients>>)
        static_assert(never<Gradients>, "xloom::all_reduce_gradients: gradients must be a tensor whose first "
                                        "axis is that of micro-batches, or a flat std::tuple of them");
    else if constexpr (!is_flat<bare<Sums>> || !are_written<leaves_t<Sums>> || !outlives_call<Sums>)
        static_assert(never<Sums>, "xloom::all_reduce_gradients: sums are written, so they must be variables "
                                   "or views of them; pass several as std::tie(dW, dR)");
    else if constexpr (!are_gradients<leaves_t<Gradients>, leaves_t<Sums>>)
        static_assert(never<Sums>,
            "xloom::all_reduce_gradients: there must be one sum for each gradient, with "
            "its element type, which is trivially copyable and has a sum");
    else
        return true;
    return false;
}

/// Requires that a sum has the shape of a gradient without the axis of micro-batches.
///
/// Errors    shape_error
template <communicator C>
void check_gradient(std::string_view op, memory_block const& gradient, memory_block const& sum, std::size_t i,
    distributed_axis<C> const& batches)
{
    shape const& dims = gradient.layout.dims;
    std::string const name = concat("gradients[", i, "]");
    if (dims.empty())
        fail<shape_error>(op, ": ", name,
            " must have an axis of micro-batches, but it has rank 0. Give it an axis of length 1.");
    check_own_part(op, name, dims, 0, batches);
    if (sum.layout.dims != drop_axis(dims, 0))
        fail<shape_error>(op, ": a sum must have the shape of a gradient without the axis of micro-batches, ",
            drop_axis(dims, 0), ", but sums[", i, "] has ", sum.layout.dims, ". Give it that shape.");
}

/// Checks the operands of one rank and returns a digest of what all ranks share.
///
/// Errors    shape_error, overlap_error
template <class... Gs, class... Ss, communicator C>
call_digest checked_gradients(std::string_view op, std::tuple<Gs...> const& gradients,
    std::tuple<Ss&...> const& sums, distributed_axis<C> const& batches)
{
    constexpr std::size_t count = sizeof...(Gs);
    check_ranks(op, "gradients", gradients);
    check_ranks(op, "sums", sums);
    std::array<std::string, 2 * count> names;
    std::array<scan_operand, 2 * count> operands;
    for_each_leaf(gradients, [&](auto i, auto const& gradient) {
        names[i] = concat("gradients[", std::size_t{i}, "]");
        operands[i] = {names[i], detail::memory_of(gradient)};
    });
    for_each_leaf(sums, [&](auto i, auto const& sum) {
        names[count + i] = concat("sums[", std::size_t{i}, "]");
        operands[count + i] = {names[count + i], detail::memory_of(sum)};
    });
    call_digest digest = detail::digest_of(batches);
    for (std::size_t i = 0; i < count; ++i) {
        check_gradient(op, operands[i].memory, operands[count + i].memory, i, batches);
        digest.add_all(operands[count + i].dims());
    }
    digest.add_type<std::tuple<item_t<Gs>...>>();
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j < count; ++j)
            check_no_overlap(op, operands[count + j], operands[i]);
    check_scan_memory(op, {}, std::span(operands).last(count));
    return digest;
}

/// The sums of one gradient: each rank has the sum of some elements at a time, for which it receives those of
/// all micro-batches, and sends the sums to all.
template <class G, class S, communicator C>
class gradient_sum {
    using T = item_t<S>;

public:
    /// Allocates copies of what is not row-major.
    gradient_sum(G const& gradients, S& sums, distributed_axis<C> const& batches)
        : batches_(batches),
          ranks_(batches.ranks()),
          from_(gradients),
          to_(enable_tensor<bare<S>>::data(sums), detail::layout_of(sums)),
          elements_(element_count(detail::shape_of(sums)))
    {
        std::size_t const share = (elements_ + ranks_.size() - 1) / ranks_.size();
        at_once_ = std::clamp<std::size_t>(batches.buffer_bytes() / sizeof(T) / (2 * batches.length() + 1), 1,
            (std::max)(share, std::size_t{1}));
    }

    /// Returns the size of the buffer that run() uses.
    std::size_t buffer_bytes() const { return (own() + all() + 1) * at_once_ * sizeof(T); }

    template <class Policy>
    void run(std::byte* buffer, rank_attempt& attempt, Policy const& policy)
    {
        T* const sent = reinterpret_cast<T*>(buffer);
        T* const received = sent + own() * at_once_;
        T* const totals = received + all() * at_once_;
        for (std::size_t first = 0; first < elements_; first += ranks_.size() * at_once_) {
            std::size_t const mine = count(first, ranks_.rank());
            for_each_partner(ranks_, [&](std::size_t destination, std::size_t source) {
                send_elements(first, destination, source, sent, received);
            });
            attempt([&] { add(received, mine, totals, policy); });
            for_each_partner(ranks_, [&](std::size_t destination, std::size_t source) {
                exchange_values<T>(ranks_, destination, std::span(totals, mine), source,
                    std::span(to_.data() + begin(first, source), count(first, source)));
            });
        }
        to_.write_back();
    }

private:
    /// Returns the number of micro-batches, of this rank and of all.
    std::size_t own() const { return batches_.end() - batches_.begin(); }
    std::size_t all() const { return batches_.length(); }

    /// Returns the range of elements, from `first` on, whose sums a rank computes.
    std::size_t begin(std::size_t first, std::size_t rank) const
    {
        return (std::min)(first + rank * at_once_, elements_);
    }
    std::size_t count(std::size_t first, std::size_t rank) const
    {
        return begin(first, rank + 1) - begin(first, rank);
    }

    void send_elements(
        std::size_t first, std::size_t destination, std::size_t source, T* sent, T* received) const
    {
        std::size_t const out = count(first, destination), in = count(first, ranks_.rank());
        for (std::size_t batch = 0; batch < own(); ++batch)
            std::copy_n(
                from_.data() + batch * elements_ + begin(first, destination), out, sent + batch * out);
        exchange_values<T>(ranks_, destination, std::span(sent, own() * out), source,
            std::span(received + batches_.begin(source) * in,
                (batches_.end(source) - batches_.begin(source)) * in));
    }

    /// Adds `count` elements of all micro-batches, by the tree of associative_scan. Each thread adds some of
    /// the elements, so that none needs memory.
    template <class Policy>
    void add(T* received, std::size_t count, T* totals, Policy const& policy) const
    {
        if (all() == 0) {
            std::fill_n(totals, count, T{});
            return;
        }
        std::size_t const parts = (std::min)(detail::parts_for(policy, all() * count), count);
        policy.for_each(parts, [&](std::size_t part) {
            std::size_t const first = detail::begin_of_part(part, parts, count),
                              width = detail::begin_of_part(part + 1, parts, count) - first;
            strided_items<T> columns{
                received + first, {{all(), width}, {static_cast<std::ptrdiff_t>(count), 1}}};
            xloom::associative_scan_into(reduce_add, columns, columns);
        });
        std::copy_n(received + (all() - 1) * count, count, totals);
    }

    distributed_axis<C> const& batches_;
    C const& ranks_;
    row_major_items<G> from_;
    row_major_output<T> to_;
    std::size_t elements_;
    std::size_t at_once_ = 1; ///< the number of elements whose sums a rank computes at once
};

/// Sums gradients over ranks, which `attempt` has evaluated; they are null if it failed.
template <class... Gs, class... Ss, communicator C, class Policy>
void sum_gradients(std::tuple<Gs...> const* gradients, std::tuple<Ss&...> const& sums,
    distributed_axis<C> const& batches, rank_attempt& attempt, Policy const& policy)
{
    static constexpr std::string_view op = "xloom::all_reduce_gradients";
    call_digest digest;
    std::tuple<std::optional<gradient_sum<bare<Gs>, Ss, C>>...> all;
    aligned_vector<std::byte> buffer;
    attempt([&] {
        digest = detail::checked_gradients(op, *gradients, sums, batches);
        std::size_t bytes = 0;
        detail::for_each_leaf(*gradients, [&](auto i, auto const& each) {
            auto& sum = std::get<i>(all);
            sum.emplace(each, std::get<i>(sums), batches);
            bytes = (std::max)(bytes, sum->buffer_bytes());
        });
        buffer.resize(bytes);
    });
    attempt.agree(batches.ranks(), op, digest);
    detail::for_each_leaf(all, [&](auto, auto& sum) { sum->run(buffer.data(), attempt, policy); });
    attempt.agree(batches.ranks(), op);
}

} // namespace detail

/// Adds gradients over the micro-batches of all ranks, in a fixed order, and gives the sums to all ranks.
///
///     sum = tree(gradients of all micro-batches, joined)          # the last result of associative_scan
///
/// A sum over ranks of sums within a rank has other bits for every number of ranks. So a rank passes the
/// gradients of its micro-batches one by one.
///
/// Shapes    gradients: a tensor [m, ...] or a std::tuple of them, with the gradients of this rank's m
///           micro-batches, m >= 0; sums: a tensor [...] for each, or std::tie of them. m is the length of
///           this rank's part of `batches`. The other axes are equal on all ranks. Any layout.
/// Types     trivially copyable ones that can be added and have a zero.
/// Policy    serial, or one with threads, each of which adds some of a rank's elements.
/// Errors    on all ranks, before the first write: shape_error, overlap_error of one of them, with its rank;
///           what lazy gradients throw there, or std::bad_alloc, as a rank_error of the others; option_error
///           for calls that differ. Errors of the communicator propagate.
/// Order     that of associative_scan along all micro-batches: the bits do not depend on the ranks.
/// Cost      each rank adds a part of the elements: with R ranks and E elements, a rank sends (m + 1) E
///           elements and receives (M + R) E / R, of M micro-batches. Allocates the buffer of the axis, or
///           the memory of one element of 2 M micro-batches, if that is more; and a copy of what is not
///           row-major.
/// Aliasing  a sum must share no memory with gradients.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xt::xtensor<double, 2> const dW = {{1, 2}, {10, 20}, {100, 200}}; // of three micro-batches
/// auto sum = xt::xtensor<double, 1>::from_shape({2});
/// xloom::distributed_axis const batches(alone, 3);
/// xloom::all_reduce_gradients(dW, sum, batches);
/// sum; // = [111, 222]
/// ```
template <class Gradients, class Sums, communicator C, class Policy = serial_policy>
void all_reduce_gradients(
    Gradients const& gradients, Sums&& sums, distributed_axis<C> const& batches, Policy const& policy = {})
{
    if constexpr (detail::is_valid_all_reduce<Gradients, Sums, Policy>()) {
        detail::rank_attempt attempt;
        std::optional<detail::evaluated_pack<Gradients>> inputs;
        attempt([&] { inputs.emplace(gradients); });
        detail::sum_gradients(
            detail::pointer_to_values(inputs), detail::leaves(sums), batches, attempt, policy);
    }
}

} // namespace xloom::inline XLOOM_ABI
