#pragma once
// Errors of one rank, which all ranks throw.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include <xloom/detail/core/communicator.hpp>
#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A number that ranks compare instead of the arguments of a call.
class call_digest {
public:
    call_digest& add(std::uint64_t value) noexcept
    {
        value_ = (value_ ^ value) * 0x9E3779B97F4A7C15U;
        value_ ^= value_ >> 32U;
        return *this;
    }
    template <class Values>
    call_digest& add_all(Values const& values) noexcept
    {
        add(values.size());
        for (auto const value : values)
            add(static_cast<std::uint64_t>(value));
        return *this;
    }
    /// Adds the name of a type, which is the same in all processes of a program.
    template <class T>
    call_digest& add_type() noexcept
    {
#ifdef __cpp_rtti
        return add_all(std::string_view(typeid(T).name()));
#else
        return add_all(std::string_view(__PRETTY_FUNCTION__)); // lambdas of one function may have one name
#endif
    }
    std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0;
};

/// The work of this rank in a call that all ranks make. Stores the first exception, which agree() rethrows on
/// all ranks; until then the rank takes part in the communication, so that no other rank waits for ever.
class rank_attempt {
public:
    /// Runs a part of the work, unless an earlier one failed. Requires that f does not communicate.
    template <class F>
    void operator()(F const& f)
    {
#ifdef __cpp_exceptions
        if (failure_)
            return;
        try {
            f();
        } catch (...) {
            failure_ = std::current_exception();
        }
#else
        f();
#endif
    }

    /// Returns on all ranks if no rank failed and all call it for the same operator with the same digest, or
    /// else throws on all. Allocates nothing before, so that no rank fails while others wait for it.
    ///
    /// Errors    that of the first rank that failed: a type of xloom with the rank in its text, or
    ///           rank_error; that rank itself throws what it caught if it is of another type.
    ///           option_error: ranks that make different calls.
    template <communicator C>
    void agree(C const& ranks, std::string_view op, call_digest digest = {})
    {
        report const all = report_of_all(ranks, digest.add_all(op).value());
        if (all.kind != kind_of_error::none)
            fail_everywhere(ranks, static_cast<std::size_t>(all.failed), all.kind);
        if (all.different.digest != all.first.digest)
            fail<option_error>(op,
                ": all ranks must make the same call, but the operator, shapes, types or options of rank ",
                all.different.rank, " are not those of rank 0. Make them equal.");
    }

private:
    enum class kind_of_error : std::uint64_t { none, type, shape, index, option, overlap, body, other };

    struct call_of_rank {
        std::uint64_t rank;
        std::uint64_t digest;
    };

    /// A summary of the calls of some ranks.
    struct report {
        call_of_rank first;     ///< that of the first of these ranks
        call_of_rank different; ///< the first one that differs from it, or the same one
        std::uint64_t failed;   ///< the first one that failed, or the number of all ranks
        kind_of_error kind;
    };

    using text_bytes = std::array<char, 2048>;

    /// Returns the report of two sets of ranks, which may intersect.
    static report joined(report const& a, report const& b)
    {
        std::array calls{a.first, a.different, b.first, b.different};
        std::sort(calls.begin(), calls.end(),
            [](call_of_rank const& x, call_of_rank const& y) { return x.rank < y.rank; });
        auto const different = std::find_if(calls.begin(), calls.end(),
            [&](call_of_rank const& each) { return each.digest != calls[0].digest; });
        report const& failed = b.failed < a.failed ? b : a;
        return {calls[0], different == calls.end() ? calls[0] : *different, failed.failed, failed.kind};
    }

    /// Returns the report of all ranks, by messages to ranks at the distances 1, 2, 4 and so on: after each a
    /// rank knows the calls of twice as many.
    template <communicator C>
    report report_of_all(C const& ranks, std::uint64_t digest) const
    {
        std::size_t const rank = ranks.rank(), size = ranks.size();
        call_of_rank const own{rank, digest};
        kind_of_error const kind = kind_of_failure();
        report known{own, own, kind == kind_of_error::none ? size : rank, kind};
        for (std::size_t distance = 1; distance < size; distance *= 2) {
            report received{};
            detail::exchange_values<report>(ranks, (rank + distance) % size, std::span(&known, 1),
                (rank + size - distance) % size, std::span(&received, 1));
            known = joined(known, received);
        }
        return known;
    }

    kind_of_error kind_of_failure() const
    {
        kind_of_error kind = kind_of_error::none;
#ifdef __cpp_exceptions
        if (failure_) {
            try {
                std::rethrow_exception(failure_);
            } catch (type_error const&) {
                kind = kind_of_error::type;
            } catch (shape_error const&) {
                kind = kind_of_error::shape;
            } catch (index_error const&) {
                kind = kind_of_error::index;
            } catch (option_error const&) {
                kind = kind_of_error::option;
            } catch (overlap_error const&) {
                kind = kind_of_error::overlap;
            } catch (body_error const&) {
                kind = kind_of_error::body;
            } catch (...) {
                kind = kind_of_error::other;
            }
        }
#endif
        return kind;
    }

    /// Returns the text of what this rank caught; of a long one the beginning.
    text_bytes text_of_failure() const
    {
        text_bytes text{};
#ifdef __cpp_exceptions
        try {
            std::rethrow_exception(failure_);
        } catch (std::exception const& error) {
            std::strncpy(text.data(), error.what(), text.size() - 1);
        } catch (...) {
            std::strncpy(text.data(), "an exception that is no std::exception", text.size() - 1);
        }
#endif
        return text;
    }

    /// Throws what `failed` caught.
    template <communicator C>
    [[noreturn]] void fail_everywhere(C const& ranks, std::size_t failed, kind_of_error kind) const
    {
        text_bytes text{};
        if (ranks.rank() == failed) {
            text = text_of_failure();
            for (std::size_t rank = 0; rank < ranks.size(); ++rank)
                if (rank != failed)
                    ranks.exchange(rank, std::as_bytes(std::span(text)), rank, {});
            if (kind == kind_of_error::other)
                std::rethrow_exception(failure_);
        } else {
            ranks.exchange(failed, {}, failed, std::as_writable_bytes(std::span(text)));
        }
        std::string const message = concat("rank ", failed, ": ", std::string_view(text.data()));
        switch (kind) {
        case kind_of_error::type:
            fail<type_error>(message);
        case kind_of_error::shape:
            fail<shape_error>(message);
        case kind_of_error::index:
            fail<index_error>(message);
        case kind_of_error::option:
            fail<option_error>(message);
        case kind_of_error::overlap:
            fail<overlap_error>(message);
        case kind_of_error::body:
            fail<body_error>(message);
        case kind_of_error::none:
        case kind_of_error::other:
            break;
        }
        fail<rank_error>(message);
    }

    std::exception_ptr failure_{};
};

/// A value that each rank constructs, from arguments of its own: when the constructor returns, all ranks have
/// one; otherwise all have thrown. It is a step of a call: the operands checked, or the memory allocated. If
/// it has a member digest, all ranks must have the same one.
template <class T>
class agreed {
public:
    /// Errors    as rank_attempt::agree.
    template <communicator C, class... Arguments>
    agreed(C const& ranks, std::string_view op, Arguments&&... arguments)
    {
        rank_attempt attempt;
        attempt([&] { value_.emplace(std::forward<Arguments>(arguments)...); });
        call_digest digest;
        if constexpr (requires { value_->digest; })
            if (value_)
                digest = value_->digest;
        attempt.agree(ranks, op, digest);
    }

    T& operator*() { return *value_; }
    T const& operator*() const { return *value_; }
    T* operator->() { return &*value_; }
    T const* operator->() const { return &*value_; }

private:
    std::optional<T> value_{};
};

} // namespace xloom::inline XLOOM_ABI::detail
