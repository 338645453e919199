#pragma once
// A scalar whose products are rounded before they are used, as by definition: what a body of lanes computes
// with in a textbook's loop.

#include "rounded.hpp"

namespace textbook {

template <class T>
struct exact_number {
    T value{};

    exact_number() = default;
    exact_number(T number) : value(number) {}

    friend exact_number operator+(exact_number a, exact_number b) { return a.value + b.value; }
    friend exact_number operator-(exact_number a, exact_number b) { return a.value - b.value; }
    friend exact_number operator*(exact_number a, exact_number b) { return rounded(a.value, b.value); }
    friend exact_number operator/(exact_number a, exact_number b) { return a.value / b.value; }
    friend exact_number operator-(exact_number a) { return -a.value; }
    friend bool operator<(exact_number a, exact_number b) { return a.value < b.value; }
    friend bool operator>(exact_number a, exact_number b) { return a.value > b.value; }
};

} // namespace textbook
