#pragma once
// Recordings by ADOL-C, for recorded_with. Link with -ladolc.

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include <adolc/adolc.h>

#include <xloom/core/error.hpp>
#include <xloom/run/scan/recorded_vjp.hpp>

namespace xloom {

/// A recording_tape on tape 0 of ADOL-C: recorded_with<adolc_tape>().
///
/// Errors    body_error: ADOL-C cannot reverse the recording; a recording begins before another one has
///           ended, of the same thread or of another.
/// Threads   a program makes one recording at a time, because all of them use tape 0.
/// Source    A. Walther, A. Griewank, ADOL-C, https://github.com/coin-or/ADOL-C.
/// Example   tests/adolc.test.cpp
class adolc_tape {
public:
    using scalar = adouble;

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
        scalar copy = value;
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

} // namespace xloom
