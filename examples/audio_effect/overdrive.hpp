#pragma once
// The circuit that the model learns: an overdrive, which is a diode clipper and a tone control.
//
// A resistor charges a capacitor that two antiparallel diodes discharge. The voltage v of the capacitor at an
// input u, in volts, follows
//
//     dv/dt = (u - v) / (R C) - 2 I_s / C sinh(v / nV_t)
//
// The tone control mixes what is below 400 Hz with what is above 1800 Hz.
//
// Source    Yeh, Abel and Smith (2007), Simplified, physically-informed models of distortion and overdrive
//           guitar effects pedals.

#include <cmath>
#include <numbers>

class overdrive {
public:
    /// Constructs the circuit at rest, for `rate` samples a second.
    explicit overdrive(double rate) : h_(1 / (rate * oversampling)) {}

    /// Returns the output at the next sample, about -1 to 1, of an input that is linear between samples.
    double operator()(double in)
    {
        double const from = u_, to = gain_in * in;
        for (int k = 1; k <= oversampling; ++k)
            step(from + (to - from) * k / oversampling);
        return low_ + (v_ - middle_);
    }

private:
    static constexpr int oversampling = 8;
    static constexpr double gain_in = 10, R = 2.2e3, C = 10e-9, I_s = 2.52e-9, nV_t = 0.0453;

    /// A step of the trapezoidal rule. Newton's method solves its equation for v.
    void step(double u)
    {
        double const v0 = v_, slope0 = slope(u_, v0);
        double change = 0;
        do {
            change = (v_ - v0 - h_ / 2 * (slope0 + slope(u, v_))) /
                     (1 + h_ / 2 * (1 / (R * C) + 2 * I_s / (C * nV_t) * std::cosh(v_ / nV_t)));
            v_ -= change;
        } while (std::abs(change) > 1e-9);
        u_ = u;
        low_pass(low_, v0, 400);
        low_pass(middle_, v0, 1800);
    }

    static double slope(double u, double v) { return (u - v) / (R * C) - 2 * I_s / C * std::sinh(v / nV_t); }

    /// A step, by the same rule, of d state/dt = 2 pi cutoff (v - state) from v0 to v.
    void low_pass(double& state, double v0, double cutoff) const
    {
        double const a = std::numbers::pi * cutoff * h_;
        state = ((1 - a) * state + a * (v0 + v_)) / (1 + a);
    }

    double h_; ///< seconds of a step
    double u_ = 0, v_ = 0, low_ = 0, middle_ = 0;
};
