#pragma once
// Values of test folders as the C++ types of generated code, and back.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <xloom/tensor.hpp>

#include "allocation/counting_new.hpp"
#include "types.hpp"
#include "value.hpp"

namespace compiled {

using runner::tensor;
using runner::value;
using values = std::vector<value>;
/// Runs a model on the values of its inputs.
using function = values (*)(values const&);

/// Conversions for one C++ type: an item, a tensor, a sequence, an optional.
template <class T>
struct bridge {
    static T from(value const& v)
    {
        tensor const& t = v.as_tensor();
        if (!t.shape().empty())
            throw runner::runner_error("a scalar is needed, but the value is " + describe(v));
        return t.items<T>()[0];
    }
    static value to(T const& item) { return tensor::scalar(item); }
};

template <class T, std::size_t Rank>
struct bridge<xt::xtensor<T, Rank>> {
    static xt::xtensor<T, Rank> from(value const& v)
    {
        tensor const& t = v.as_tensor();
        if (t.shape().size() != Rank)
            throw runner::runner_error(
                fmt::format("a tensor of rank {} is needed, but the value is {}", Rank, describe(v)));
        typename xt::xtensor<T, Rank>::shape_type dims;
        std::copy(t.shape().begin(), t.shape().end(), dims.begin());
        xt::xtensor<T, Rank> result;
        result.resize(dims);
        auto const items = t.items<T>();
        std::copy(items.begin(), items.end(), result.data());
        return result;
    }
    static value to(xt::xtensor<T, Rank> const& x)
    {
        return tensor::of<T>({x.shape().begin(), x.shape().end()}, {x.data(), x.size()});
    }
};

template <class T>
struct bridge<std::vector<T>> {
    static std::vector<T> from(value const& v)
    {
        std::vector<T> all;
        for (value const& each : v.as_sequence())
            all.push_back(bridge<T>::from(each));
        return all;
    }
    static value to(std::vector<T> const& all)
    {
        runner::sequence result;
        for (T const& each : all)
            result.push_back(bridge<T>::to(each));
        return value(result);
    }
};

template <class T>
struct bridge<std::optional<T>> {
    static std::optional<T> from(value const& v)
    {
        if (!v.is_optional())
            return bridge<T>::from(v);
        return v.as_optional().held ? std::optional<T>(bridge<T>::from(*v.as_optional().held)) : std::nullopt;
    }
    static value to(std::optional<T> const& x)
    {
        value::optional_value result;
        if (x)
            result.held = std::make_shared<value const>(bridge<T>::to(*x));
        return value(result);
    }
};

/// Returns an input as a C++ type.
template <class T>
T input(values const& all, std::size_t i)
{
    return bridge<T>::from(all.at(i));
}

template <class T>
value output(T const& x)
{
    return bridge<T>::to(x);
}

/// Runs a model a second time, which must not allocate if the model keeps its memory.
template <class Call>
void run_again(Call const& call, bool keeps_memory)
{
    std::size_t const before = allocations();
    call();
    std::size_t const count = allocations() - before;
    if (keeps_memory && count != 0)
        throw runner::runner_error(fmt::format("its second call allocates {} times", count));
}

/// A model of a test folder that was compiled, or the reason why it was not.
struct entry {
    char const* path;
    function run;        ///< null: it was not compiled
    char const* refusal; ///< the error of xloom-compile; empty: it made code, which does not compile
    bool is_missing;     ///< an operator is missing; else the model is invalid
};

/// Returns the entry of a folder; null if there is none.
entry const* find(std::string const& path);

} // namespace compiled
