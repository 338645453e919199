#pragma once
// A scalar of a user.

#include <cmath>
#include <compare>

/// A number without += and its like, as the recurrent operators take it.
struct plain_number {
    double value = 0;

    plain_number() = default;
    plain_number(double x) : value(x) {}

    friend plain_number operator+(plain_number a, plain_number b) { return a.value + b.value; }
    friend plain_number operator-(plain_number a, plain_number b) { return a.value - b.value; }
    friend plain_number operator-(plain_number a) { return -a.value; }
    friend plain_number operator*(plain_number a, plain_number b) { return a.value * b.value; }
    friend plain_number operator/(plain_number a, plain_number b) { return a.value / b.value; }
    friend auto operator<=>(plain_number a, plain_number b) = default;
    friend plain_number abs(plain_number x) { return std::abs(x.value); }
    friend plain_number exp(plain_number x) { return std::exp(x.value); }
    friend plain_number log1p(plain_number x) { return std::log1p(x.value); }
    friend plain_number tanh(plain_number x) { return std::tanh(x.value); }
};
