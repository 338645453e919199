// The tables of the runner and of the compiler, beside each other.

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "elementwise.hpp"
#include "emitters.hpp"
#include "operators.hpp"

TEST_CASE("the compiler has code for the operators that the runner runs, and no others")
{
    // No line of code computes these: a constant is a member, an identity a second name.
    std::set<std::string> emitted = {"Constant", "Identity"};
    for (std::string const& name : compiler::elementwise_operators())
        CHECK_MESSAGE(emitted.insert(name).second, name);
    for (auto const& each : compiler::all_emitters())
        CHECK_MESSAGE(emitted.insert(each.first).second, each.first);
    std::set<std::string> run;
    for (std::string const& name : runner::operator_names())
        run.insert(name);
    CHECK(run.size() == runner::all_operators().size());
    for (std::string const& name : run)
        CHECK_MESSAGE(emitted.contains(name), name << " has no emitter");
    for (std::string const& name : emitted)
        CHECK_MESSAGE(run.contains(name), name << " has no run function");
}

TEST_CASE("every operator has versions, a run function and a type rule")
{
    for (auto const& each : runner::all_operators()) {
        CAPTURE(each.first);
        CHECK_FALSE(each.second.signatures.empty());
        CHECK(each.second.run != nullptr);
        CHECK(each.second.infer != nullptr);
    }
}
