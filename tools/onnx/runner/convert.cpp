#include "convert.hpp"

#include <algorithm>
#include <array>

#include <xloom_onnx/cast.hpp>

#include "moves.hpp"
#include "text.hpp"
#include "types.hpp"

namespace runner {

namespace {

// Every type goes through one of four that holds all its numbers: a few loops instead of one for each pair of
// types.

element_type hub_of(element_type type)
{
    switch (type) {
    case element_type::double_:
    case element_type::uint64:
        return type;
    case element_type::float_:
    case element_type::float16:
    case element_type::bfloat16:
    case element_type::float8_e4m3fn:
    case element_type::float8_e4m3fnuz:
    case element_type::float8_e5m2:
    case element_type::float8_e5m2fnuz:
    case element_type::float8_e8m0:
    case element_type::float4_e2m1:
        return element_type::float_;
    default:
        return element_type::int64;
    }
}

template <class F>
auto with_hub(element_type type, F&& f)
{
    return with_type_of<float, double, std::int64_t, std::uint64_t>(hub_of(type), std::forward<F>(f));
}

template <class F>
void with_float_hub(element_type type, F&& f)
{
    with_type_of<float, xloom::float16, xloom::bfloat16, xloom::float8_e4m3fn, xloom::float8_e4m3fnuz,
        xloom::float8_e5m2, xloom::float8_e5m2fnuz, xloom::float8_e8m0, xloom::float4_e2m1>(
        type, std::forward<F>(f));
}

template <class F>
void with_integer_hub(element_type type, F&& f)
{
    with_type_of<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
        std::uint32_t, xloom::int4, xloom::uint4, xloom::int2, xloom::uint2>(type, std::forward<F>(f));
}

template <class Hub>
void load(tensor const& from, std::size_t at, std::span<Hub> block)
{
    auto const copy = [&]<class T>(std::type_identity<T>) {
        std::transform(from.items<T>().data() + at, from.items<T>().data() + at + block.size(), block.data(),
            [](T x) { return static_cast<Hub>(x); });
    };
    if constexpr (std::is_same_v<Hub, float>)
        with_float_hub(from.type(), copy);
    else if constexpr (std::is_same_v<Hub, std::int64_t>)
        with_integer_hub(from.type(), copy);
    else
        copy(std::type_identity<Hub>());
}

template <class Hub>
void store(std::span<Hub const> block, tensor& to, std::size_t at, xloom::cast_options options)
{
    auto const copy = [&]<class T>(std::type_identity<T>) {
        std::transform(block.data(), block.data() + block.size(), to.items<T>().data() + at,
            [&](Hub x) { return xloom_onnx::cast_item<T>(x, options); });
    };
    with_hub(to.type(), [&]<class T>(std::type_identity<T> as) {
        if constexpr (std::is_same_v<T, float>)
            with_float_hub(to.type(), copy);
        else if constexpr (std::is_same_v<T, std::int64_t>)
            with_integer_hub(to.type(), copy);
        else
            copy(as);
    });
}

/// Reads a number. Throws with the text as it may be printed.
template <class Hub>
Hub number_in(std::string const& text)
{
    try {
        return xloom_onnx::number_in<Hub>(text);
    } catch (xloom::type_error const&) {
        throw runner_error("the string " + in_quotes(text) + " is no number");
    }
}

} // namespace

tensor convert(tensor const& from, element_type to, xloom::cast_options options)
{
    constexpr std::size_t most = 1024;
    if (from.type() == to)
        return from;
    tensor result = new_tensor(to, from.shape());
    std::size_t const size = from.size();
    if (from.type() == element_type::string) {
        auto const texts = from.items<std::string>();
        // bool: 0.5 is true.
        with_hub(
            to == element_type::bool_ ? element_type::double_ : to, [&]<class Hub>(std::type_identity<Hub>) {
                for (std::size_t i = 0; i < size; ++i) {
                    Hub const x = number_in<Hub>(texts[i]);
                    store<Hub>({&x, 1}, result, i, options);
                }
            });
        return result;
    }
    reservation characters;
    with_hub(from.type(), [&]<class Hub>(std::type_identity<Hub>) {
        std::array<Hub, most> block;
        for (std::size_t at = 0; at < size; at += most) {
            std::size_t const count = std::min(most, size - at);
            load<Hub>(from, at, {block.data(), count});
            if (to != element_type::string)
                store<Hub>({block.data(), count}, result, at, options);
            for (std::size_t i = 0; to == element_type::string && i < count; ++i) {
                std::string& text = result.items<std::string>()[at + i];
                text = xloom_onnx::text_of(block[i]);
                characters.grow(text.size());
                if (characters.bytes() > current_budget().tensor_bytes)
                    throw runner_error(
                        fmt::format("its strings would have more than {} characters", characters.bytes()));
            }
        }
    });
    return result;
}

} // namespace runner
