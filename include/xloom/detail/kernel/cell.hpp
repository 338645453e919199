#pragma once
// The parts that the kernels of LSTM, GRU and RNN share: the constants and states of a batch's rows, and the
// recurrent product, on the threads of an execution policy.

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <xloom/detail/core/arithmetic.hpp>
#include <xloom/detail/core/policy.hpp>
#include <xloom/detail/core/tuning.hpp>
#include <xloom/detail/kernel/activations.hpp>
#include <xloom/detail/kernel/arena.hpp>
#include <xloom/detail/kernel/multiply.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

/// Multiplies rows by constant matrices, on the calling thread or on those of an execution policy, each of
/// which computes columns of its own.
///
/// Why columns: one row cannot be partitioned, and the caches of two cores hold a matrix that one cannot. The
/// bits of a sum do not depend on the columns that are computed with it.
class multiplier {
public:
    multiplier() = default;
    /// Each thread has `per_share` multiply-adds or more.
    multiplier(xloom::detail::policy_ref const& policy, std::size_t per_share)
        : policy_(policy), per_share_(per_share)
    {}

    /// Returns the number of threads that share the product of `rows` rows and b.
    template <class T>
    std::size_t shares(std::size_t rows, stored_matrix<T> const& b) const
    {
        std::size_t const threads = policy_.concurrency();
        return threads == 1 ? 1
                            : std::clamp<std::size_t>(rows * b.depth * b.columns / per_share_, 1,
                                  std::clamp<std::size_t>(groups_of(b), 1, threads));
    }

    /// Computes sums = start + a b: see multiply.
    template <class T>
    void operator()(std::size_t rows, row_span<std::type_identity_t<T> const> a, stored_matrix<T> const& b,
        row_span<std::type_identity_t<T> const> start, row_span<std::type_identity_t<T>> sums,
        panel_order order = panel_order::forwards) const
    {
        std::size_t const parts = shares(rows, b);
        if (parts == 1)
            return multiply<T>(rows, a, b, start, sums, order);
        policy_.for_each(parts, [&](std::size_t part) {
            auto const range = range_of_part(part, parts, groups_of(b));
            std::size_t const begin = range.begin * width<T>,
                              end = (std::min)(range.end * width<T>, b.columns);
            multiply_columns<T>(rows, a, b, {begin, end - begin}, {start.first + begin, start.stride},
                {sums.first + begin, sums.stride}, order);
        });
    }

private:
    /// The columns that one row's loop computes at once, which stay together.
    template <class T>
    static constexpr std::size_t width = panels_per_row<T> * panel_width<T>;

    template <class T>
    static std::size_t groups_of(stored_matrix<T> const& b)
    {
        return xloom::detail::ceil_div(b.columns, width<T>);
    }

    xloom::detail::policy_ref policy_{};
    std::size_t per_share_ = 1;
};

/// The constants of one direction of a cell whose sums have `Gates` gates, each of which begins at a multiple
/// of gate_stride.
template <class T, std::size_t Gates>
struct cell_parameters {
    using number = T;
    static constexpr std::size_t gates = Gates;

    std::size_t I, H;
    std::size_t gate_stride; ///< H rounded up to whole batches of the level that packed them
    std::size_t h_stride;    ///< K likewise: the stride of rows of h
    stored_matrix<T> W;      ///< [I, Gates gate_stride]
    stored_matrix<T> R;      ///< [K, Gates gate_stride]
    T const* bias;           ///< laid out as a row of sums

    /// Returns the length of h: H, or that of a projection.
    std::size_t K() const noexcept { return R.depth; }
    /// Returns the stride of rows of sums.
    std::size_t sums_stride() const noexcept { return row_stride<T>(Gates * gate_stride); }
    /// Returns the matrix of the recurrent product, the one of several gates if there are two.
    stored_matrix<T> const& of_every_step() const noexcept { return R; }
    /// Returns the multiply-adds of a row and a step.
    std::size_t products() const noexcept { return W.depth * W.columns + R.depth * R.columns; }
};

/// Returns the attributes of one direction, forwards or backwards, which residuals depend on.
template <class Parameters>
auto const& attributes_of(Parameters const& p)
    requires requires { p.how; }
{
    return p.how;
}

/// The state h [rows, K] of a batch's rows, and the recurrent product. Each cell adds its step.
template <class Parameters>
class cell_rows {
public:
    using parameters = Parameters;
    using T = typename Parameters::number;

    /// Allocates memory for `rows` rows; an arena without memory only adds up the size.
    cell_rows(parameters const& p, std::size_t rows, arena<T>& memory)
        : p_(p), h_(memory.take(rows, p.h_stride))
    {}

    T* h(std::size_t row) const noexcept { return h_ + row * p_.h_stride; }
    row_span<T const> h_of_all() const noexcept { return {h_, p_.h_stride}; }

    /// Multiplies by `multiply` from now on.
    void multiply_by(multiplier const& multiply) noexcept { multiply_ = multiply; }
    multiplier const& multiplication() const noexcept { return multiply_; }

    stored_matrix<T> const& W() const noexcept { return p_.W; }
    std::size_t H() const noexcept { return p_.H; }
    std::size_t K() const noexcept { return p_.K(); }
    T const* bias() const noexcept { return p_.bias; }
    std::size_t sums_stride() const noexcept { return p_.sums_stride(); }

protected:
    parameters const& p() const noexcept { return p_; }

    /// Adds R h to the sums of the first `rows` rows, then calls finish(sums, row) for each.
    template <class Finish>
    void multiply_R(std::size_t rows, std::size_t t, T* sums, Finish const& finish) const
    {
        row_span<T> const all{sums, sums_stride()};
        multiply_(rows, h_of_all(), p_.R, all, all, order_of_step(t));
        for (std::size_t row = 0; row < rows; ++row)
            finish(all.from(row).first, row);
    }

private:
    parameters const& p_;
    T* h_;
    multiplier multiply_{};
};

} // namespace xloom::inline XLOOM_ABI::kernel
