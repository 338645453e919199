#pragma once
// Sums along an axis that is divided among ranks, in an order that does not depend on the ranks.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <xloom/detail/check/shapes.hpp>
#include <xloom/detail/core/aligned_vector.hpp>
#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/distributed_axis.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/indexed/indexed_operands.hpp>
#include <xloom/detail/tensor/strided_items.hpp>
#include <xloom/parallel/associative_scan.hpp>

namespace xloom::inline XLOOM_ABI {

namespace detail {

/// Requires elements that can be added and have a zero.
template <class Xs>
struct with_a_sum {
    template <class... Ts>
    static consteval bool have_sums(std::type_identity<std::tuple<Ts...>>)
    {
        return (has_identity<reduce_add_t, item_t<Ts>> && ...);
    }
    static consteval bool holds()
    {
        constexpr bool is_valid = have_sums(std::type_identity<leaves_t<Xs>>());
        static_assert(is_valid, "the elements must have a sum and a zero");
        return is_valid;
    }
};

/// Requires that a sum has the shape of an operand without the divided axis.
///
/// Errors    shape_error
template <communicator C>
void check_sum(
    std::string_view op, operand_memory const& x, operand_memory const& sum, distributed_axis<C> const& part)
{
    if (x.dims().empty())
        fail<shape_error>(op, ": ", x.name(),
            " must have the divided axis, but it has rank 0. Give it an axis of length 1.");
    detail::check_own_part(op, x.name(), x.dims(), 0, part);
    if (sum.dims() != drop_axis(x.dims(), 0))
        fail<shape_error>(op, ": ", sum.name(), " must have the shape of ", x.name(),
            " without the divided axis, ", drop_axis(x.dims(), 0), ", but it has ", sum.dims(),
            ". Give it that shape.");
}

/// The sum of one operand: each rank has the sum of some elements at a time, for which it receives those of
/// all slices, and sends the sums to all.
template <class X, class T, communicator C>
class rank_sum {

public:
    /// Allocates copies of what is not row-major.
    template <class Sum>
    rank_sum(X const& x, Sum& sum, distributed_axis<C> const& part)
        : part_(part),
          ranks_(part.ranks()),
          from_(x),
          to_(enable_tensor<bare<Sum>>::data(sum), detail::layout_of(sum)),
          elements_(element_count(detail::shape_of(sum)))
    {
        std::size_t const share = ceil_div(elements_, ranks_.size());
        per_round_ = std::clamp<std::size_t>(
            part.buffer_bytes() / sizeof(T) / (2 * part.length() + 1), 1, (std::max)(share, std::size_t{1}));
    }

    /// Returns the size of the buffer that run() uses.
    ///
    /// Errors    shape_error: as check_fits_in_memory.
    std::size_t buffer_bytes() const
    {
        std::size_t const slices = saturating_add(own() + 1, all()),
                          items = elements_ == 0 ? 0 : saturating_mul(slices, per_round_);
        check_fits_in_memory<T>(items);
        return items * sizeof(T);
    }

    template <class Policy>
    void run(std::byte* buffer, rank_attempt& attempt, Policy const& policy)
    {
        if (elements_ == 0)
            return;
        T* const sent = reinterpret_cast<T*>(buffer);
        T* const received = sent + own() * per_round_;
        T* const totals = received + all() * per_round_;
        for (std::size_t first = 0; first < elements_; first += ranks_.size() * per_round_) {
            std::size_t const mine = count(first, ranks_.rank());
            detail::for_each_partner(ranks_, [&](std::size_t destination, std::size_t source) {
                send_elements(first, destination, source, sent, received);
            });
            attempt([&] { add(received, mine, totals, policy); });
            detail::for_each_partner(ranks_, [&](std::size_t destination, std::size_t source) {
                detail::exchange_values<T>(ranks_, destination, std::span(totals, mine), source,
                    std::span(to_.data() + begin(first, source), count(first, source)));
            });
        }
        to_.write_back();
    }

private:
    /// Returns the number of slices, of this rank and of all.
    std::size_t own() const { return part_.own_length(); }
    std::size_t all() const { return part_.length(); }

    /// Returns the range of elements, from `first` on, whose sums a rank computes.
    std::size_t begin(std::size_t first, std::size_t rank) const
    {
        return (std::min)(first + rank * per_round_, elements_);
    }
    std::size_t count(std::size_t first, std::size_t rank) const
    {
        return begin(first, rank + 1) - begin(first, rank);
    }

    void send_elements(
        std::size_t first, std::size_t destination, std::size_t source, T* sent, T* received) const
    {
        std::size_t const out = count(first, destination), in = count(first, ranks_.rank());
        for (std::size_t i = 0; i < own(); ++i)
            std::copy_n(from_.data() + i * elements_ + begin(first, destination), out, sent + i * out);
        detail::exchange_values<T>(ranks_, destination, std::span(sent, own() * out), source,
            std::span(received + part_.begin(source) * in, (part_.end(source) - part_.begin(source)) * in));
    }

    /// Adds `count` elements of all slices, by the tree of associative_scan. Each thread adds some of
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

    distributed_axis<C> const& part_;
    C const& ranks_;
    row_major_items<T> from_;
    row_major_output<T> to_;
    std::size_t elements_;
    std::size_t per_round_ = 1; ///< the number of elements whose sums a rank computes in a round
};

/// The operands of sums on one rank, checked, and the memory that they need.
template <class Xs, class Sums, communicator C, class Inputs = decltype(evaluated_argument<Xs>::values)>
class rank_sum_call;

template <class Xs, class... Sums, communicator C, class... Inputs>
class rank_sum_call<Xs, std::tuple<Sums&...>, C, std::tuple<Inputs...>> {
    using sums_type = std::tuple<Sums&...>;

    evaluated_argument<Xs> inputs_;
    sums_type sums_;
    distributed_axis<C> const& part_;

public:
    call_digest digest;

    rank_sum_call(std::string_view op, Xs const& xs, sums_type const& sums, distributed_axis<C> const& part)
        : inputs_(xs), sums_(sums), part_(part), digest(checked(op))
    {
        std::size_t bytes = 0;
        detail::for_each_leaf(each_, [&](auto i, auto& sum) {
            sum.emplace(std::get<i>(inputs_.values), std::get<i>(sums_), part_);
            bytes = (std::max)(bytes, sum->buffer_bytes());
        });
        buffer_.resize(bytes);
    }

    template <class Policy>
    void run(rank_attempt& attempt, Policy const& policy)
    {
        detail::for_each_leaf(each_, [&](auto, auto& sum) { sum->run(buffer_.data(), attempt, policy); });
    }

private:
    call_digest checked(std::string_view op) const
    {
        constexpr std::size_t count = sizeof...(Sums);
        constexpr bool is_several = is_tuple<Xs>;
        scanned_operands<is_several, std::tuple<Inputs...>, sums_type> const operands(
            op, is_several ? "xs" : "x", inputs_.values, is_several ? "sums" : "sum", sums_);
        call_digest of_call = detail::digest_of(part_);
        for (std::size_t i = 0; i < count; ++i) {
            detail::check_sum(op, operands.inputs()[i], operands.results()[i], part_);
            of_call.add_all(operands.results()[i].dims());
        }
        check_written(op, operands.results(), operands.inputs());
        return of_call.template add_type<std::tuple<item_t<Sums>...>>();
    }
    std::tuple<std::optional<rank_sum<bare<Inputs>, item_t<Sums>, C>>...> each_{};
    aligned_vector<std::byte> buffer_{};
};

} // namespace detail

/// Adds the slices along an axis that is divided among ranks, in a fixed order, and gives the sum to all
/// ranks: totals, or the gradients of the micro-batches of all ranks.
///
///     sum = tree(x of all ranks, joined)          # the last result of associative_scan
///
/// A sum over ranks of sums within a rank has other bits for every number of ranks. So a rank passes its
/// slices, such as the gradients of its micro-batches, one by one.
///
/// Shapes    xs: a tensor [m, ...] or a std::tuple of them, whose first axis is the divided one: m is the
///           length of this rank's part, and may be 0; sums: a tensor [...] for each, or std::tie of them.
///           The other axes are equal on all ranks. Any layout.
/// Types     trivially copyable ones that can be added and have a zero.
/// Axis      a distributed_axis after the sums, before or after the policy.
/// Policy    serial, or one with threads, each of which adds some of a rank's elements.
/// Errors    on all ranks, before the first write: shape_error, overlap_error of one of them, with its rank;
///           what lazy operands throw there, or std::bad_alloc, as a rank_error of the others; option_error
///           for calls that differ. Errors of the communicator propagate.
/// Order     that of associative_scan along the whole axis: the bits do not depend on the ranks.
/// Cost      each rank adds a part of the elements: with R ranks and E elements of a slice, a rank sends
///           (m + 1) E elements and receives (M + R) E / R, where the axis has M slices. Allocates the buffer
///           of the axis, or the memory of one element of 2 M slices, if that is more; and a copy of what is
///           not row-major.
/// Aliasing  a sum must share no memory with an operand.
/// Example
/// ```cpp
/// xloom::single_rank const alone;
/// xt::xtensor<double, 2> const dW = {{1, 2}, {10, 20}, {100, 200}}; // of three micro-batches
/// auto sum = xt::xtensor<double, 1>::from_shape({2});
/// xloom::distributed_axis const batches(alone, 3);
/// xloom::distributed_sum_into(dW, sum, batches);
/// sum; // = [111, 222]
/// ```
template <class Xs, class Sums, class... Env>
void distributed_sum_into(Xs const& xs, Sums&& sums, Env&&... env)
{
    if constexpr (detail::satisfied<detail::over_ranks<Env...>, detail::with_an_axis<Xs>,
                      detail::flat_arguments<Sums>, detail::written<Sums>, detail::results_of<Xs, Sums>,
                      detail::sendable<Xs>, detail::with_a_sum<Xs>>()) {
        static constexpr std::string_view op = "xloom::distributed_sum_into";
        auto const& part = detail::rank_axis_of(env...);
        auto const results = detail::leaves(sums);
        detail::agreed<detail::rank_sum_call<Xs, std::remove_const_t<decltype(results)>,
            typename detail::bare<decltype(part)>::communicator_type>>
            call(part.ranks(), op, op, xs, results, part);
        detail::rank_attempt attempt;
        call->run(attempt, detail::policy_of(env...));
        attempt.agree(part.ranks(), op);
    }
}

} // namespace xloom::inline XLOOM_ABI
