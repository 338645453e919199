#pragma once
// What a call may do: give the answer of the reference, or refuse with an error that the rule names.

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <xloom/detail/core/error.hpp>

namespace fuzz {

/// xloom is wrong, or the rule or reference is.
class wrong_answer : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

inline void require(bool condition, std::string const& what)
{
    if (!condition)
        throw wrong_answer(what);
}

/// What a body throws that is none of xloom's.
struct own_exception {};

/// The mistakes of a call, by rules that are written here anew. Of several, any one may be reported.
struct expected_outcome {
    bool shape = false, option = false, index = false, overlap = false, body = false;
    bool throws = false; ///< the body throws its own exception

    bool is_legal() const { return !(shape || option || index || overlap || body || throws); }
};

/// Calls. False if it was refused as the rule wants it.
template <class Call>
bool runs(expected_outcome const& outcome, Call const& call)
{
    auto const refused = [](bool is_right, xloom::error const& error) {
        require(is_right, std::string("the rules do not name this refusal: ") + error.what());
        return false;
    };
    try {
        call();
    } catch (xloom::shape_error const& error) {
        return refused(outcome.shape, error);
    } catch (xloom::option_error const& error) {
        return refused(outcome.option, error);
    } catch (xloom::index_error const& error) {
        return refused(outcome.index, error);
    } catch (xloom::overlap_error const& error) {
        return refused(outcome.overlap, error);
    } catch (xloom::body_error const& error) {
        return refused(outcome.body, error);
    } catch (own_exception const&) {
        require(outcome.throws, "the body must not have been called");
        return false;
    }
    require(outcome.is_legal(), "an illegal call was carried out");
    return true;
}

/// The same bits; any NaN equals any other.
template <class T>
bool are_same(std::vector<T> const& a, std::vector<T> const& b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0 && (a[i] == a[i] || b[i] == b[i]))
            return false;
    return true;
}

} // namespace fuzz
