#pragma once
// The last layer: a probability for each symbol, and how surprised it is by the right one.

#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "parameters.hpp"

namespace g2p {

/// The loss of states h that predict symbols, and its derivatives.
///
///     p = softmax(h output_W + output_B)
///     loss = sum over all targets of -log p[target]
///
/// The work is cut into parts that do not depend on the threads; each sum is within a part.
template <class Item>
class cross_entropy {
    using matrix = Eigen::Matrix<Item, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using map = Eigen::Map<matrix>;
    using const_map = Eigen::Map<matrix const>;

public:
    /// Returns the loss of T steps of N rows of H items, and keeps its derivative by the sums of the softmax,
    /// times `scale`.
    template <class Policy>
    double operator()(Item const* states, xt::xtensor<std::int32_t, 2> const& targets,
        xt::xtensor<std::int32_t, 1> const& counts, parameters<Item> const& p, Item scale,
        Policy const& policy)
    {
        std::size_t const T = targets.shape()[0], N = targets.shape()[1];
        rows_ = index(N);
        steps_ = index(T);
        if (ct_sums_.rows() < rows_ * steps_)
            ct_sums_.resize(rows_ * steps_, index(symbols));
        losses_.assign(T, 0);
        policy.for_each(T, [&](std::size_t t) {
            auto sums = step(t);
            sums.noalias() = states_of(states, p).middleRows(index(t) * rows_, rows_) * output_W(p);
            sums.rowwise() += const_map(p.output_B.data(), 1, index(symbols)).row(0);
            for (std::size_t n = 0; n < N; ++n) {
                auto row = sums.row(index(n)).array();
                if (t >= static_cast<std::size_t>(counts(n))) {
                    row.setZero();
                    continue;
                }
                row = (row - row.maxCoeff()).exp();
                row /= row.sum();
                Item& right = row(targets(t, n));
                losses_[t] -= std::log(static_cast<double>(right));
                right -= 1;
                row *= scale;
            }
        });
        double loss = 0;
        for (double const each : losses_)
            loss += each;
        return loss;
    }

    /// Writes the derivatives of the last call's loss by the states and by the layer's weights.
    template <class Policy>
    void gradient(Item const* states, parameters<Item> const& p, Item* ct_states, parameters<Item>& ct,
        Policy const& policy) const
    {
        std::size_t const T = static_cast<std::size_t>(steps_), H = p.output_W.shape()[0];
        policy.for_each(T, [&](std::size_t t) {
            map(ct_states + t * static_cast<std::size_t>(rows_) * H, rows_, index(H)).noalias() =
                step(t) * output_W(p).transpose();
        });
        auto const sums = ct_sums_.topRows(rows_ * steps_);
        map ct_W(ct.output_W.data(), index(H), index(symbols));
        constexpr std::size_t columns = 32;
        policy.for_each((H + columns - 1) / columns, [&](std::size_t part) {
            Eigen::Index const first = index(part * columns),
                               count = index(std::min(columns, H - part * columns));
            ct_W.middleRows(first, count).noalias() =
                states_of(states, p).middleCols(first, count).transpose() * sums;
        });
        map(ct.output_B.data(), 1, index(symbols)) = sums.colwise().sum();
    }

private:
    static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

    const_map states_of(Item const* states, parameters<Item> const& p) const
    {
        return {states, steps_ * rows_, index(p.output_W.shape()[0])};
    }
    static const_map output_W(parameters<Item> const& p)
    {
        return {p.output_W.data(), index(p.output_W.shape()[0]), index(symbols)};
    }
    auto step(std::size_t t) { return ct_sums_.middleRows(index(t) * rows_, rows_); }
    auto step(std::size_t t) const { return ct_sums_.middleRows(index(t) * rows_, rows_); }

    matrix ct_sums_; ///< of T steps of N rows
    std::vector<double> losses_;
    Eigen::Index rows_ = 0, steps_ = 0;
};

} // namespace g2p
