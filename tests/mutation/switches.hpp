#pragma once
// Every change of scripts/mutate in one program (mutant schemata): an operator or constant asks at each use
// whether its change is on.
//
// a + b becomes a + mutation::at<7>{} + b, whose operators compute a - b if change 7 is on: precedence and
// associativity stay those of the operator. Where the types have no such operator, the change is no program.

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#ifndef XLOOM_MUTANT
#define XLOOM_MUTANT 0 // the change in constant expressions
#endif

namespace mutation {

/// The changes that run time reached; writes their numbers, a line each, to the file that XLOOM_REACHED
/// names.
class reached_changes {
public:
    reached_changes() = default;
    reached_changes(reached_changes const&) = delete;
    reached_changes& operator=(reached_changes const&) = delete;

    ~reached_changes()
    {
        char const* const path = std::getenv("XLOOM_REACHED");
        std::FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
        if (file == nullptr)
            return;
        for (int id = 0; id < limit; ++id) {
            if (is_reached_[id])
                std::fprintf(file, "%d\n", id);
        }
        std::fclose(file);
    }

    void add(int id) noexcept { is_reached_[id] = true; }

    static constexpr int limit = 1 << 14;

private:
    bool is_reached_[limit] = {};
};

inline reached_changes reached;

/// The number in XLOOM_MUTANT of the environment.
inline int const active = [] {
    char const* const id = std::getenv("XLOOM_MUTANT");
    return id != nullptr ? std::atoi(id) : 0;
}();

template <int Id>
constexpr bool is_on()
{
    static_assert(0 < Id && Id < reached_changes::limit);
    if (std::is_constant_evaluated())
        return Id == XLOOM_MUTANT;
    reached.add(Id);
    return Id == active;
}

/// Stands between the operands of change Id.
template <int Id>
struct at {};

template <int Id, class A>
struct operand {
    A value;
};

#define MUTATION_BINARY(op, changed)                                                                         \
    template <int Id, class A>                                                                               \
    constexpr operand<Id, A> operator op(A a, at<Id>)                                                        \
    {                                                                                                        \
        return {a};                                                                                          \
    }                                                                                                        \
    template <int Id, class A, class B>                                                                      \
    constexpr auto operator op(operand<Id, A> a, B b)->decltype(a.value op b)                                \
    {                                                                                                        \
        if constexpr (requires {                                                                             \
                          {                                                                                  \
                              a.value changed b                                                              \
                          } -> std::same_as<decltype(a.value op b)>;                                         \
                      }) {                                                                                   \
            if (is_on<Id>())                                                                                 \
                return a.value changed b;                                                                    \
        } else {                                                                                             \
            static_assert(Id != XLOOM_MUTANT, "no program");                                                 \
        }                                                                                                    \
        return a.value op b;                                                                                 \
    }

MUTATION_BINARY(==, !=)
MUTATION_BINARY(!=, ==)
MUTATION_BINARY(<, <=)
MUTATION_BINARY(<=, <)
MUTATION_BINARY(>, >=)
MUTATION_BINARY(>=, >)
MUTATION_BINARY(+, -)
MUTATION_BINARY(-, +)
MUTATION_BINARY(*, /)
MUTATION_BINARY(/, *)
MUTATION_BINARY(%, /)

// Assignments group from the right: the place takes the right operand first.
#define MUTATION_ASSIGNMENT(op, changed)                                                                     \
    template <int Id, class B>                                                                               \
    constexpr operand<Id, B> operator op(at<Id>, B b)                                                        \
    {                                                                                                        \
        return {b};                                                                                          \
    }                                                                                                        \
    template <int Id, class A, class B>                                                                      \
    constexpr A& operator op(A& a, operand<Id, B> b)                                                         \
    {                                                                                                        \
        if constexpr (requires { a changed b.value; }) {                                                     \
            if (is_on<Id>()) {                                                                               \
                a changed b.value;                                                                           \
                return a;                                                                                    \
            }                                                                                                \
        } else {                                                                                             \
            static_assert(Id != XLOOM_MUTANT, "no program");                                                 \
        }                                                                                                    \
        a op b.value;                                                                                        \
        return a;                                                                                            \
    }

MUTATION_ASSIGNMENT(+=, -=)
MUTATION_ASSIGNMENT(-=, +=)
MUTATION_ASSIGNMENT(*=, +=)
MUTATION_ASSIGNMENT(&=, |=)
MUTATION_ASSIGNMENT(|=, &=)

/// !a as no_not<Id>{} ->* a, whose operator binds nearly as tightly; a if change Id is on.
template <int Id>
struct no_not {};

template <int Id, class A>
constexpr auto operator->*(no_not<Id>, A a) -> decltype(!a)
{
    if constexpr (requires { static_cast<decltype(!a)>(a); }) {
        if (is_on<Id>())
            return static_cast<decltype(!a)>(a);
    } else {
        static_assert(Id != XLOOM_MUTANT, "no program");
    }
    return !a;
}

/// -a as no_minus<Id>{} ->* a; a if change Id is on.
template <int Id>
struct no_minus {};

template <int Id, class A>
constexpr auto operator->*(no_minus<Id>, A a) -> decltype(-a)
{
    if constexpr (requires { static_cast<decltype(-a)>(a); }) {
        if (is_on<Id>())
            return static_cast<decltype(-a)>(a);
    } else {
        static_assert(Id != XLOOM_MUTANT, "no program");
    }
    return -a;
}

/// A condition, or a vector of them; the contrary if change Id is on.
template <int Id, class A>
constexpr auto turned(A a)
{
    if constexpr (requires { static_cast<bool>(a); })
        return is_on<Id>() != static_cast<bool>(a);
    else
        return is_on<Id>() ? !a : a;
}

/// The value; its successor if change Id is on.
template <int Id>
constexpr int number(int value)
{
    return is_on<Id>() ? value + 1 : value;
}

/// 1; 2 if change Id is on, 0 if the next one is.
template <int Id>
constexpr int one()
{
    return is_on<Id>() ? 2 : is_on<Id + 1>() ? 0 : 1;
}

} // namespace mutation
