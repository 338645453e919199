#pragma once
// Recordings by Sacado, a part of Trilinos, for recorded_with. Nothing is to be linked; Debian's headers of
// Sacado include one of libtrilinos-kokkos-dev.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <Sacado_trad.hpp>

#include <xloom/detail/core/error.hpp>
#include <xloom/detail/scan/recorded_vjp.hpp>

namespace xloom::inline XLOOM_ABI {

/// A recording_tape on the memory of Sacado::Rad: recorded_with<sacado_tape>().
///
/// Errors    body_error: a recording begins before another one has ended, of the same thread or of another.
/// Threads   a program makes one recording at a time, because Sacado::Rad has one memory for all threads.
/// Aliasing  the end of a recording also ends all Sacado::Rad::ADvar<double> of the caller.
/// Differs   the derivatives of pow are exact where the base is 0; those of Sacado are NaN.
/// Source    R. A. Bartlett, D. M. Gay, E. T. Phipps, Automatic Differentiation of C++ Codes for Large-Scale
///           Scientific Computing, ICCS 2006, https://github.com/trilinos/Trilinos.
/// Example   tests/interop/sacado.test.cpp
class sacado_tape {
    using node = Sacado::Rad::ADvari<double>; // the result of an operation, in the memory of Sacado::Rad
    using variable = Sacado::Rad::ADvar<double>;

public:
    /// A number that records its operations. It is valid as long as the recording.
    ///
    /// It is the address of a node. ADvar of Sacado::Rad would not do: its operations return nodes, so that
    /// `auto y = a * b;` copies a node, and no derivative passes through the copy.
    class scalar {
    public:
        scalar() = default; ///< the constant 0
        scalar(double constant) : value_(constant) {}

        double value() const { return value_; }

        friend bool operator==(scalar const& a, scalar const& b) { return a.value_ == b.value_; }
        friend auto operator<=>(scalar const& a, scalar const& b) { return a.value_ <=> b.value_; }

        scalar operator+() const { return *this; }
        scalar operator-() const { return -get(); }
        friend scalar operator+(scalar const& a, scalar const& b) { return a.get() + b.get(); }
        friend scalar operator-(scalar const& a, scalar const& b) { return a.get() - b.get(); }
        friend scalar operator*(scalar const& a, scalar const& b) { return a.get() * b.get(); }
        friend scalar operator/(scalar const& a, scalar const& b) { return a.get() / b.get(); }
        scalar& operator+=(scalar const& other) { return *this = *this + other; }
        scalar& operator-=(scalar const& other) { return *this = *this - other; }
        scalar& operator*=(scalar const& other) { return *this = *this * other; }
        scalar& operator/=(scalar const& other) { return *this = *this / other; }

        friend scalar abs(scalar const& x) { return abs(x.get()); }
        friend scalar fabs(scalar const& x) { return fabs(x.get()); }
        friend scalar(max)(scalar const& a, scalar const& b) { return a < b ? b : a; }
        friend scalar(min)(scalar const& a, scalar const& b) { return b < a ? b : a; }

        friend scalar sqrt(scalar const& x) { return sqrt(x.get()); }
        friend scalar cbrt(scalar const& x) { return cbrt(x.get()); }
        friend scalar exp(scalar const& x) { return exp(x.get()); }
        friend scalar log(scalar const& x) { return log(x.get()); }
        friend scalar log10(scalar const& x) { return log10(x.get()); }
        friend scalar sin(scalar const& x) { return sin(x.get()); }
        friend scalar cos(scalar const& x) { return cos(x.get()); }
        friend scalar tan(scalar const& x) { return tan(x.get()); }
        friend scalar asin(scalar const& x) { return asin(x.get()); }
        friend scalar acos(scalar const& x) { return acos(x.get()); }
        friend scalar atan(scalar const& x) { return atan(x.get()); }
        friend scalar atan2(scalar const& y, scalar const& x) { return atan2(y.get(), x.get()); }
        friend scalar sinh(scalar const& x) { return sinh(x.get()); }
        friend scalar cosh(scalar const& x) { return cosh(x.get()); }
        friend scalar tanh(scalar const& x) { return tanh(x.get()); }
        friend scalar asinh(scalar const& x) { return asinh(x.get()); }
        friend scalar acosh(scalar const& x) { return acosh(x.get()); }
        friend scalar atanh(scalar const& x) { return atanh(x.get()); }

        friend scalar pow(scalar const& x, scalar const& y)
        {
            double const power = std::pow(x.value_, y.value_);
            double const by_x = y.value_ == 0 ? 0 : y.value_ * std::pow(x.value_, y.value_ - 1);
            double const by_y = power == 0 ? 0 : power * std::log(x.value_);
            return Sacado::Rad::ADf2(power, by_x, by_y, x.get(), y.get());
        }

    private:
        friend class sacado_tape;

        scalar(node& result) : value_(result.Val), node_(&result) {}

        node& get() const { return node_ ? *node_ : *new node(value_); } // Sacado::Rad frees it

        double value_ = 0;
        node* node_ = nullptr; // of a constant: none
    };

    sacado_tape()
    {
        if (is_memory_used().exchange(true))
            detail::fail<body_error>(
                "xloom::sacado_tape: a recording must end before the next one begins, but "
                "another one lasts. Sacado::Rad has one memory for all threads: record in "
                "one thread at a time, and not within a body that is recorded.");
    }
    sacado_tape(sacado_tape const&) = delete;
    sacado_tape& operator=(sacado_tape const&) = delete;
    ~sacado_tape() { stop(); }

    scalar input(double value)
    {
        inputs_.push_back(new node(value));
        return *inputs_.back();
    }

    void output(scalar const& value) { outputs_.push_back(value); }

    void reverse(std::span<double const> ct_outputs, std::span<double> ct_inputs)
    {
        std::vector<variable> results; // each a node of its own, though the same may be output twice
        results.reserve(outputs_.size());
        for (scalar const& output : outputs_)
            results.emplace_back(output.get());
        std::vector<variable*> addresses;
        for (variable& result : results)
            addresses.push_back(&result);
        std::vector<double> weights(ct_outputs.begin(), ct_outputs.end());
        if (!results.empty())
            variable::Weighted_Gradcomp(results.size(), addresses.data(), weights.data());
        std::transform(
            inputs_.begin(), inputs_.end(), ct_inputs.begin(), [](node* input) { return input->aval; });
        stop();
    }

private:
    /// True while a recording lasts.
    static std::atomic<bool>& is_memory_used()
    {
        static std::atomic<bool> used = false;
        return used;
    }

    void stop()
    {
        if (!is_recording_)
            return;
        variable::Gradcomp(0); // computes nothing: the next node begins the memory anew
        is_recording_ = false;
        is_memory_used() = false;
    }

    std::vector<node*> inputs_{};
    std::vector<scalar> outputs_{};
    bool is_recording_ = true;
};

} // namespace xloom::inline XLOOM_ABI
