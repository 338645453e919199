#pragma once
// Recordings by ADOL-C, for recorded_with. Link with -ladolc.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <span>
#include <type_traits>
#include <vector>

#include <adolc/adolc.h>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/scan/recorded_vjp.hpp>

namespace xloom::inline XLOOM_ABI {

/// A recording_tape on tape 0 of ADOL-C: recorded_with<adolc_tape>().
///
/// Errors    body_error: ADOL-C cannot reverse the recording; a recording begins before another one has
///           ended, of the same thread or of another.
/// Threads   a program makes one recording at a time, because all of them use tape 0.
/// Source    A. Walther, A. Griewank, ADOL-C, https://github.com/coin-or/ADOL-C.
/// Example   tests/interop/adolc.test.cpp
class adolc_tape {
public:
    /// A number that records its operations: an adouble of ADOL-C whose operations return numbers, too.
    ///
    /// Those of adouble return an adub, which is only valid until it is assigned: after `auto y = a * b;` the
    /// second variable that y is assigned to has no derivative.
    class scalar : public adouble {
        template <class X>
        static constexpr bool is_operand = std::is_arithmetic_v<X> || std::derived_from<X, badouble>;
        template <class A, class B>
        static constexpr bool are_operands =
            is_operand<A> && is_operand<B> && (std::is_same_v<A, scalar> || std::is_same_v<B, scalar>);

        static badouble const& base(badouble const& x) { return x; }
        static double base(double constant) { return constant; }

    public:
        scalar() : scalar(0.0) {}
        scalar(double constant) : adouble(constant) {}
        scalar(adouble const& x) : adouble(x) {}
        scalar(adub const& x) : adouble(x) {}

        scalar operator+() const { return *this; }
        scalar operator-() const { return -base(*this); }
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar operator+(A const& a, B const& b)
        {
            return base(a) + base(b);
        }
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar operator-(A const& a, B const& b)
        {
            return base(a) - base(b);
        }
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar operator*(A const& a, B const& b)
        {
            return base(a) * base(b);
        }
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar operator/(A const& a, B const& b)
        {
            return base(a) / base(b);
        }
        scalar& operator+=(scalar const& other) { return *this = *this + other; }
        scalar& operator-=(scalar const& other) { return *this = *this - other; }
        scalar& operator*=(scalar const& other) { return *this = *this * other; }
        scalar& operator/=(scalar const& other) { return *this = *this / other; }

        friend scalar abs(scalar const& x) { return fabs(base(x)); }
        friend scalar fabs(scalar const& x) { return fabs(base(x)); }
        friend scalar(max)(scalar const& a, scalar const& b) { return fmax(base(a), base(b)); }
        friend scalar(min)(scalar const& a, scalar const& b) { return fmin(base(a), base(b)); }
        friend scalar ceil(scalar const& x) { return ceil(base(x)); }
        friend scalar floor(scalar const& x) { return floor(base(x)); }

        friend scalar sqrt(scalar const& x) { return sqrt(base(x)); }
        friend scalar cbrt(scalar const& x) { return cbrt(base(x)); }
        friend scalar exp(scalar const& x) { return exp(base(x)); }
        friend scalar log(scalar const& x) { return log(base(x)); }
        friend scalar log10(scalar const& x) { return log10(base(x)); }
        friend scalar sin(scalar const& x) { return sin(base(x)); }
        friend scalar cos(scalar const& x) { return cos(base(x)); }
        friend scalar tan(scalar const& x) { return tan(base(x)); }
        friend scalar asin(scalar const& x) { return asin(base(x)); }
        friend scalar acos(scalar const& x) { return acos(base(x)); }
        friend scalar atan(scalar const& x) { return atan(base(x)); }
        friend scalar atan2(scalar const& y, scalar const& x) { return atan2(base(y), base(x)); }
        friend scalar sinh(scalar const& x) { return sinh(base(x)); }
        friend scalar cosh(scalar const& x) { return cosh(base(x)); }
        friend scalar tanh(scalar const& x) { return tanh(base(x)); }
#if defined(ATRIG_ERF)
        friend scalar asinh(scalar const& x) { return asinh(base(x)); }
        friend scalar acosh(scalar const& x) { return acosh(base(x)); }
        friend scalar atanh(scalar const& x) { return atanh(base(x)); }
        friend scalar erf(scalar const& x) { return erf(base(x)); }
#endif
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar pow(A const& x, B const& y)
        {
            return pow(base(x), base(y));
        }
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar fmax(A const& a, B const& b)
        {
            return fmax(base(a), base(b));
        }
        template <class A, class B>
            requires are_operands<A, B>
        friend scalar fmin(A const& a, B const& b)
        {
            return fmin(base(a), base(b));
        }
    };

    adolc_tape()
    {
        if (is_tape_used().exchange(true))
            detail::fail<body_error>("xloom::adolc_tape: a recording must end before the next one begins, "
                                     "but another one lasts. All "
                                     "of them use one tape: record in one thread at a time, and not within a "
                                     "body that is recorded.");
        trace_on(tag, /*keeps values for reverse()*/ 1);
    }
    adolc_tape(adolc_tape const&) = delete;
    adolc_tape& operator=(adolc_tape const&) = delete;
    ~adolc_tape()
    {
        stop();
        is_tape_used() = false;
    }

    scalar input(double value)
    {
        scalar variable;
        variable <<= value;
        return variable;
    }

    void output(scalar const& value)
    {
        double ignored = 0;
        adouble copy = value;
        copy >>= ignored;
    }

    void reverse(std::span<double const> ct_outputs, std::span<double> ct_inputs)
    {
        stop();
        if (ct_inputs.empty())
            return;
        if (ct_outputs.empty()) {
            std::fill(ct_inputs.begin(), ct_inputs.end(), 0.0);
            return;
        }
        std::vector<double> weights(
            ct_outputs.begin(), ct_outputs.end()); // fos_reverse takes a mutable array
        int const status = ::fos_reverse(tag, static_cast<int>(ct_outputs.size()),
            static_cast<int>(ct_inputs.size()), weights.data(), ct_inputs.data());
        if (status < 0)
            detail::fail<body_error>("xloom::adolc_tape: ADOL-C must be able to reverse the recording, but "
                                     "fos_reverse returned ",
                status, ". Use operations that ADOL-C knows.");
    }

private:
    static constexpr short tag = 0;

    /// True while a recording lasts or is reversed.
    static std::atomic<bool>& is_tape_used()
    {
        static std::atomic<bool> used = false;
        return used;
    }

    void stop()
    {
        if (is_recording_)
            trace_off();
        is_recording_ = false;
    }

    bool is_recording_ = true;
};

} // namespace xloom::inline XLOOM_ABI
