#include "sequence.hpp"

#include <algorithm>
#include <vector>

#include <xloom/infer/merge.hpp>

#include "inference.hpp"
#include "value.hpp"

namespace runner {

namespace {

/// Returns what is known of a value of either type.
xloom::partial_type common(xloom::partial_type const& a, xloom::partial_type const& b)
{
    if (a == b)
        return a;
    if (!a.is_tensor() || !b.is_tensor() || a.element() != b.element())
        return xloom::untyped;
    return a.with_shape(xloom::union_shape(a.shape(), b.shape()));
}

} // namespace

struct sequence::storage {
    reservation taken{};
    std::vector<value> values{};
    xloom::partial_type common_type{};
};

sequence::sequence() : storage_(std::make_shared<storage>()) {}

sequence::sequence(std::initializer_list<value> values) : sequence()
{
    reserve(values.size());
    for (value const& each : values)
        push_back(each);
}

std::size_t sequence::size() const { return storage_->values.size(); }

value const& sequence::operator[](std::size_t i) const { return storage_->values[i]; }

value const* sequence::begin() const { return storage_->values.data(); }

value const* sequence::end() const { return begin() + size(); }

void sequence::reserve(std::size_t count)
{
    std::size_t const capacity = storage_->taken.bytes() / sizeof(value);
    if (count <= capacity)
        return;
    storage_->taken.grow((count - capacity) * sizeof(value));
    storage_->values.reserve(count);
}

xloom::partial_type const& sequence::common_type() const { return storage_->common_type; }

void sequence::push_back(value added) { insert(size(), std::move(added)); }

void sequence::insert(std::size_t where, value added)
{
    if (size() == storage_->taken.bytes() / sizeof(value))
        reserve(std::max<std::size_t>(4, 2 * size()));
    reserve_characters(added);
    auto const type = type_of(added);
    storage_->common_type = empty() ? type : common(storage_->common_type, type);
    auto& values = storage_->values;
    values.insert(values.begin() + static_cast<std::ptrdiff_t>(where), std::move(added));
}

void sequence::erase(std::size_t where)
{
    auto& values = storage_->values;
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(where));
}

} // namespace runner
