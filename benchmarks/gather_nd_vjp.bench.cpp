// Compares gather_nd_vjp_into with hand-written loops after a bounds check, and with the scatter_nd_into that
// it amounts to (impl:forward).

#include <xloom/gradients/gather_nd_vjp.hpp>
#include <xloom/indexing/scatter_nd.hpp>

#include "nd_operands.hpp"

namespace {

using namespace bench;

template <class T, std::size_t Rank>
struct vjp_operands {
    xt::xtensor<T, Rank> ct;
    index_table<std::int64_t> indices;
    xt::xtensor<T, Rank> ct_data;
    std::size_t iterations; ///< slices that were gathered

    auto const& results() const { return ct_data; }
    void clear() { ct_data.fill(T{7}); }
};

template <class T, std::size_t Rank>
void hand(vjp_operands<T, Rank>& o)
{
    std::size_t const n = o.ct_data.shape(0), m = o.ct.size() / o.iterations;
    require_in_range(o.indices, n);
    T* const to = o.ct_data.data();
    auto const at = [&](std::size_t i) {
        return static_cast<std::size_t>(wrapped(o.indices.data()[i], n)) * m;
    };
    std::fill_n(to, o.ct_data.size(), T{});
    for (std::size_t i = 0; i < o.iterations; ++i) {
        if (i + items_ahead < o.iterations)
            __builtin_prefetch(to + at(i + items_ahead), 1);
        T* __restrict const slice = to + at(i);
        T const* __restrict const part = o.ct.data() + i * m;
        for (std::size_t j = 0; j < m; ++j)
            slice[j] += part[j];
    }
}

template <class T, std::size_t Rank>
void forward(vjp_operands<T, Rank>& o)
{
    std::fill(o.ct_data.begin(), o.ct_data.end(), T{});
    xloom::scatter_nd_into(xloom::reduction::add, o.ct_data, o.indices, o.ct);
}

template <class T, std::size_t Rank>
void xloom_into(vjp_operands<T, Rank>& o)
{
    std::fill(o.ct_data.begin(), o.ct_data.end(), T{});
    xloom::gather_nd_vjp_into(o.indices, o.ct, o.ct_data);
}

/// Gathers `count` slices of data [n], or of m items of data [n, m] if Rank is 2.
template <class T, std::size_t Rank>
void add_vjp(std::string const& type, std::size_t n, std::size_t m, std::size_t count)
{
    using operands = vjp_operands<T, Rank>;
    using tensor = xt::xtensor<T, Rank>;
    add_case(
        "gather_nd_vjp/" + type + "/data:" + std::to_string(n) +
            (Rank == 2 ? "x" + std::to_string(m) : std::string()) + "/indices:" + std::to_string(count),
        [=] {
            typename tensor::shape_type of_ct, of_data;
            of_ct[Rank - 1] = of_data[Rank - 1] = m;
            of_ct[0] = count;
            of_data[0] = n;
            return operands{made_up<tensor>(of_ct), random_tuples<std::int64_t>(count, 1, n),
                tensor::from_shape(of_data), count};
        },
        std::vector<series<operands>>{
            {"hand", hand<T, Rank>}, {"xloom", xloom_into<T, Rank>}, {"forward", forward<T, Rank>}});
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::size_t million = 1'000'000, rows = 10'000;
    add_vjp<float, 1>("f32", million, 1, million);
    add_vjp<double, 1>("f64", million, 1, million);
    add_vjp<float, 2>("f32", rows, 3, rows);
    add_vjp<float, 2>("f32", rows, 256, rows);
    return run_cases(argc, argv);
}
