// Compares scatter_nd_vjp_into with hand-written loops after a bounds check, and with calls of
// scatter_nd_into and gather_nd_into that give the same gradients (impl:forward).

#include <numeric>
#include <vector>

#include <xloom/gradients/scatter_nd_vjp.hpp>
#include <xloom/indexing/gather_nd.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "nd_operands.hpp"

namespace {

using namespace bench;
using xloom::reduction;

/// Data and ct [n] or [n, m], and `count` updates of single items or rows.
template <std::size_t Rank>
struct vjp_operands {
    using tensor = xt::xtensor<float, Rank>;

    tensor ct, data;
    index_table<std::int64_t> indices;
    tensor updates;
    std::size_t iterations; ///< updates
    tensor ct_data = data, ct_updates = updates;
    tensor a = data, b = data, c = updates, d = updates; ///< intermediate values of impl:forward

    std::size_t size() const { return updates.size() / iterations; }
    std::pair<tensor, tensor> results() const { return {ct_data, ct_updates}; }
    void clear()
    {
        ct_data.fill(7);
        ct_updates.fill(7);
    }
};

/// A hand-written loop: the last update of a slice has its cotangent.
template <std::size_t Rank>
void hand_none(vjp_operands<Rank>& o)
{
    std::size_t const n = o.ct.shape(0), m = o.size();
    require_in_range(o.indices, n);
    std::vector<bool> written(n);
    auto const slice = [&](std::size_t i) {
        return static_cast<std::size_t>(wrapped(o.indices.data()[i], n));
    };
    std::copy_n(o.ct.data(), o.ct.size(), o.ct_data.data());
    for (std::size_t i = o.iterations; i-- > 0;) {
        if (i >= items_ahead) {
            __builtin_prefetch(o.ct.data() + slice(i - items_ahead) * m);
            __builtin_prefetch(o.ct_data.data() + slice(i - items_ahead) * m, 1);
        }
        std::size_t const at = slice(i);
        float const keep = written[at] ? 0.0f : 1.0f;
        written[at] = true;
        for (std::size_t j = 0; j < m; ++j) {
            o.ct_updates.data()[i * m + j] = keep * o.ct.data()[at * m + j];
            o.ct_data.data()[at * m + j] = 0;
        }
    }
}

template <std::size_t Rank>
void hand_add(vjp_operands<Rank>& o)
{
    std::size_t const n = o.ct.shape(0), m = o.size();
    require_in_range(o.indices, n);
    std::copy_n(o.ct.data(), o.ct.size(), o.ct_data.data());
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (i + items_ahead < o.iterations)
            __builtin_prefetch(
                o.ct.data() + static_cast<std::size_t>(wrapped(o.indices.data()[i + items_ahead], n)) * m);
        std::copy_n(o.ct.data() + static_cast<std::size_t>(wrapped(o.indices.data()[i], n)) * m, m,
            o.ct_updates.data() + i * m);
    }
}

/// Products of the values before each update, then of those after it.
template <std::size_t Rank>
void hand_mul(vjp_operands<Rank>& o)
{
    std::size_t const n = o.ct.shape(0), m = o.size();
    require_in_range(o.indices, n);
    auto const at = [&](std::size_t i) {
        return static_cast<std::size_t>(wrapped(o.indices.data()[i], n)) * m;
    };
    std::copy_n(o.data.data(), o.data.size(), o.a.data());
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (i + items_ahead < o.iterations)
            __builtin_prefetch(o.a.data() + at(i + items_ahead), 1);
        float* const before = o.a.data() + at(i);
        for (std::size_t j = 0; j < m; ++j) {
            o.ct_updates.data()[i * m + j] = before[j];
            before[j] *= o.updates.data()[i * m + j];
        }
    }
    o.a.fill(1);
    for (std::size_t i = o.iterations; i-- > 0;) {
        if (i >= items_ahead) {
            __builtin_prefetch(o.a.data() + at(i - items_ahead), 1);
            __builtin_prefetch(o.ct.data() + at(i - items_ahead));
        }
        float* const after = o.a.data() + at(i);
        for (std::size_t j = 0; j < m; ++j) {
            o.ct_updates.data()[i * m + j] *= after[j] * o.ct.data()[at(i) + j];
            after[j] *= o.updates.data()[i * m + j];
        }
    }
    for (std::size_t i = 0; i < o.ct.size(); ++i)
        o.ct_data.data()[i] = o.ct.data()[i] * o.a.data()[i];
}

/// The result, the number of values that equal it, and an even part for each of them.
template <std::size_t Rank>
void hand_max(vjp_operands<Rank>& o)
{
    std::size_t const n = o.ct.shape(0), m = o.size();
    require_in_range(o.indices, n);
    auto const for_each = [&](auto const& f) {
        for (std::size_t i = 0; i < o.iterations; ++i) {
            auto const at = [&](std::size_t k) {
                return static_cast<std::size_t>(wrapped(o.indices.data()[k], n)) * m;
            };
            if (i + items_ahead < o.iterations) {
                __builtin_prefetch(o.a.data() + at(i + items_ahead), 1);
                __builtin_prefetch(o.b.data() + at(i + items_ahead), 1);
            }
            for (std::size_t j = 0; j < m; ++j)
                f(at(i) + j, i * m + j);
        }
    };
    float* const largest = o.a.data();
    float* const part = o.b.data();
    std::copy_n(o.data.data(), o.data.size(), largest);
    for_each([&](std::size_t at, std::size_t update) {
        float const value = o.updates.data()[update];
        largest[at] = value != value || largest[at] < value ? value : largest[at];
    });
    for (std::size_t i = 0; i < o.data.size(); ++i)
        part[i] = o.data.data()[i] == largest[i] ? 1.0f : 0.0f;
    for_each([&](std::size_t at, std::size_t update) {
        part[at] += o.updates.data()[update] == largest[at] ? 1.0f : 0.0f;
    });
    for (std::size_t i = 0; i < o.data.size(); ++i) {
        part[i] = o.ct.data()[i] / part[i];
        o.ct_data.data()[i] = o.data.data()[i] == largest[i] ? part[i] : 0.0f;
    }
    for_each([&](std::size_t at, std::size_t update) {
        o.ct_updates.data()[update] = o.updates.data()[update] == largest[at] ? part[at] : 0.0f;
    });
}

template <std::size_t Rank>
void hand_mean(vjp_operands<Rank>& o)
{
    std::size_t const n = o.ct.shape(0), m = o.size();
    require_in_range(o.indices, n);
    auto const slice = [&](std::size_t i) {
        return static_cast<std::size_t>(wrapped(o.indices.data()[i], n));
    };
    std::vector<std::size_t> counts(n, 1);
    for (std::size_t i = 0; i < o.iterations; ++i)
        ++counts[slice(i)];
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (i + items_ahead < o.iterations)
            __builtin_prefetch(o.ct.data() + slice(i + items_ahead) * m);
        for (std::size_t j = 0; j < m; ++j)
            o.ct_updates.data()[i * m + j] =
                o.ct.data()[slice(i) * m + j] / static_cast<float>(counts[slice(i)]);
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j)
            o.ct_data.data()[i * m + j] = o.ct.data()[i * m + j] / static_cast<float>(counts[i]);
}

/// Calls of the forward operators. With reduction none, the updates must be of different slices.
template <std::size_t Rank, reduction Kind>
void forward(vjp_operands<Rank>& o)
{
    using xloom::gather_nd_into;
    using xloom::scatter_nd_into;
    if constexpr (Kind == reduction::add) {
        std::copy(o.ct.begin(), o.ct.end(), o.ct_data.begin());
        gather_nd_into(o.ct, o.indices, o.ct_updates);
    } else if constexpr (Kind == reduction::none) {
        std::copy(o.ct.begin(), o.ct.end(), o.ct_data.begin());
        std::fill(o.c.begin(), o.c.end(), 0.0f);
        scatter_nd_into(o.ct_data, o.indices, o.c);
        gather_nd_into(o.ct, o.indices, o.ct_updates);
    } else if constexpr (Kind == reduction::mean) {
        std::fill(o.a.begin(), o.a.end(), 1.0f);
        std::fill(o.c.begin(), o.c.end(), 1.0f);
        scatter_nd_into(reduction::add, o.a, o.indices, o.c);
        for (std::size_t i = 0; i < o.ct.size(); ++i)
            o.ct_data.data()[i] = o.ct.data()[i] / o.a.data()[i];
        gather_nd_into(o.ct_data, o.indices, o.ct_updates);
    } else if constexpr (Kind == reduction::max) {
        std::copy(o.data.begin(), o.data.end(), o.a.begin());
        scatter_nd_into(reduction::max, o.a, o.indices, o.updates);
        gather_nd_into(o.a, o.indices, o.c);
        for (std::size_t i = 0; i < o.c.size(); ++i)
            o.c.data()[i] = o.c.data()[i] == o.updates.data()[i] ? 1.0f : 0.0f;
        for (std::size_t i = 0; i < o.a.size(); ++i)
            o.a.data()[i] = o.a.data()[i] == o.data.data()[i] ? 1.0f : 0.0f;
        std::copy(o.a.begin(), o.a.end(), o.b.begin());
        scatter_nd_into(reduction::add, o.b, o.indices, o.c);
        for (std::size_t i = 0; i < o.b.size(); ++i) {
            o.b.data()[i] = o.ct.data()[i] / o.b.data()[i];
            o.ct_data.data()[i] = o.a.data()[i] != 0 ? o.b.data()[i] : 0.0f;
        }
        gather_nd_into(o.b, o.indices, o.d);
        for (std::size_t i = 0; i < o.d.size(); ++i)
            o.ct_updates.data()[i] = o.c.data()[i] != 0 ? o.d.data()[i] : 0.0f;
    }
}

template <std::size_t Rank, reduction Kind>
void xloom_into(vjp_operands<Rank>& o)
{
    o.ct_data.fill(0.0f); // which the gradients are added to
    o.ct_updates.fill(0.0f);
    xloom::scatter_nd_vjp_into(
        Kind, o.data, o.indices, o.updates, o.ct, {.data = o.ct_data, .updates = o.ct_updates});
}

/// A permutation: no slice is named twice.
index_table<std::int64_t> permuted(std::size_t count)
{
    auto indices = index_table<std::int64_t>::from_shape({count, 1});
    std::iota(indices.begin(), indices.end(), std::int64_t{0});
    std::shuffle(indices.begin(), indices.end(), std::mt19937(1));
    return indices;
}

/// `count` updates of as many slices, of `m` items if Rank is 2. Signs only where products would overflow.
template <reduction Kind, std::size_t Rank>
void add_vjp(std::size_t count, std::size_t m, void (*hand)(vjp_operands<Rank>&), bool is_unique,
    bool has_forward = true)
{
    using operands = vjp_operands<Rank>;
    using tensor = typename operands::tensor;
    std::vector<series<operands>> all{{"hand", hand}, {"xloom", xloom_into<Rank, Kind>}};
    if (has_forward)
        all.push_back({"forward", forward<Rank, Kind>});
    add_case(
        "scatter_nd_vjp/" + std::string(name_of(Kind)) + "/f32/data:" + std::to_string(count) +
            (Rank == 2 ? "x" + std::to_string(m) : std::string()) + "/updates:" + std::to_string(count) +
            (is_unique ? "/permuted" : ""),
        [=] {
            typename tensor::shape_type shape;
            shape[Rank - 1] = m;
            shape[0] = count;
            auto updates = made_up<tensor>(shape);
            if (Kind == reduction::mul)
                for (float& update : updates.storage())
                    update = update < 0.0f ? -1.0f : 1.0f;
            tensor const ct = made_up<tensor>(shape);
            tensor data = ct;
            std::reverse(data.storage().begin(), data.storage().end());
            return operands{ct, data,
                is_unique ? permuted(count) : random_tuples<std::int64_t>(count, 1, count), updates, count};
        },
        all);
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::size_t million = 1'000'000, rows = 10'000;
    add_vjp<reduction::none, 1>(million, 1, hand_none<1>, true);
    add_vjp<reduction::none, 1>(million, 1, hand_none<1>, false, false);
    add_vjp<reduction::add, 1>(million, 1, hand_add<1>, false);
    add_vjp<reduction::mean, 1>(million, 1, hand_mean<1>, false);
    add_vjp<reduction::mul, 1>(million, 1, hand_mul<1>, false, false);
    add_vjp<reduction::max, 1>(million, 1, hand_max<1>, false);
    add_vjp<reduction::none, 2>(rows, 256, hand_none<2>, true);
    add_vjp<reduction::add, 2>(rows, 256, hand_add<2>, false);
    add_vjp<reduction::mean, 2>(rows, 256, hand_mean<2>, false);
    add_vjp<reduction::mul, 2>(rows, 256, hand_mul<2>, false, false);
    add_vjp<reduction::max, 2>(rows, 256, hand_max<2>, false);
    return run_cases(argc, argv);
}
