#pragma once
// Ranks for tests: threads, one number of them after another, or the processes of mpirun (tests/mpi).

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#ifdef XLOOM_TEST_ON_MPI
#include <xloom/ranks/mpi.hpp>
#else
#include <xloom/ranks/thread_ranks.hpp>
#endif

#include "xtensor_extras.hpp"

/// Runs f(communicator) on 1, 2, 3, 4 and 7 ranks, or on those of MPI. Returns true if it did so on all.
template <class F>
bool on_ranks(F const& f)
{
#ifdef XLOOM_TEST_ON_MPI
    xloom::mpi_communicator const ranks(MPI_COMM_WORLD, 1000); // most messages are sent in several pieces
    std::byte const mine{f(ranks)};
    std::vector<std::byte> all(ranks.size());
    ranks.all_gather(std::span(&mine, 1), all);
    for (std::byte const each : all)
        if (each == std::byte{0})
            return false;
    return true;
#else
    std::atomic<bool> are_right = true;
    for (std::size_t const size : {1U, 2U, 3U, 4U, 7U})
        xloom::run_thread_ranks(size, [&](auto const& ranks) {
            if (!f(ranks))
                are_right = false;
        });
    return are_right;
#endif
}

/// The ways in which an axis is divided among ranks.
enum class division { even, ragged, last_has_all };
inline constexpr std::array divisions{division::even, division::ragged, division::last_has_all};

/// Returns where the part of a rank begins; ragged parts are short and long in turn, and some are empty.
inline std::size_t begin_of(division how, std::size_t rank, std::size_t size, std::size_t length)
{
    if (rank == size || how == division::even)
        return length * rank / size;
    if (how == division::last_has_all)
        return 0;
    std::size_t const third = rank / 3 * 3; // ranks 1 and 2, 4 and 5 ... begin where the one before them ends
    return length * (rank == third ? third : third + 2) / (size + 1);
}

struct range {
    std::size_t begin, end;

    std::size_t length() const { return end - begin; }
};
template <class C>
range part_of(division how, C const& ranks, std::size_t length)
{
    return {begin_of(how, ranks.rank(), ranks.size(), length),
        begin_of(how, ranks.rank() + 1, ranks.size(), length)};
}

/// Returns a view of the rows of a part.
template <class X>
auto rows_of(X const& x, range const& part)
{
    return xt::view(x, xt::range(part.begin, part.end));
}

/// Returns a column-major copy. Why not an assignment: xtensor's iterators move null pointers of empty ones.
template <class T, std::size_t Rank>
auto in_columns(xt::xtensor<T, Rank> const& x)
{
    auto columns = xt::xtensor<T, Rank, xt::layout_type::column_major>::from_shape(x.shape());
    if (x.size() != 0)
        columns = x;
    return columns;
}

/// True if two numbers are equal, their signs too if they are floating-point numbers; NaN equals NaN.
template <class T>
bool is_same_number(T const& a, T const& b)
{
    if constexpr (std::is_floating_point_v<T>)
        return (a == b && std::signbit(a) == std::signbit(b)) || (a != a && b != b);
    else
        return a == b || (a != a && b != b);
}

/// True if two tensors of one shape have the same numbers.
template <class X, class Y>
bool are_equal(X const& x, Y const& y)
{
    return x.size() == 0 || std::equal(x.begin(), x.end(), y.begin(), [](auto const& a, auto const& b) {
        return is_same_number<typename X::value_type>(a, b);
    });
}

/// Returns the text of the Error that f() throws; empty if it throws nothing.
template <class Error, class F>
std::string text_of(F const& f)
{
    try {
        f();
    } catch (Error const& error) {
        return typeid(error) == typeid(Error) ? error.what() : "an exception of a derived type";
    } catch (...) {
        return "another exception";
    }
    return "";
}

/// Returns a lazy copy of x, which fails on the last rank when it is evaluated.
template <class C, class X>
auto fails_on_last(C const& ranks, X const& x)
{
    bool const fails = ranks.rank() + 1 == ranks.size();
    return xt::make_lambda_xfunction(
        [fails](auto const& item) {
            if (fails)
                throw std::domain_error("enough");
            return item;
        },
        x);
}

/// True on all ranks if call() throws there what the last rank throws: std::domain_error("enough").
template <class C, class F>
bool is_failure_of_last(C const& ranks, F const& call)
{
    std::size_t const last = ranks.size() - 1;
    return ranks.rank() == last
               ? text_of<std::domain_error>(call) == "enough"
               : text_of<xloom::rank_error>(call) == "rank " + std::to_string(last) + ": enough";
}

/// True on all ranks if op says so of call(), in which rank 1 differs from rank 0.
template <class C, class F>
bool is_refused_as_different(C const& ranks, std::string const& op, F const& call)
{
    return text_of<xloom::option_error>(call) ==
           (ranks.size() == 1 ? ""
                              : "xloom::" + op +
                                    ": all ranks must make the same call, but the operator, shapes, types or "
                                    "options of rank 1 are not those of rank 0. Make them equal.");
}
