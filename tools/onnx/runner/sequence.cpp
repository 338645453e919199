#include "sequence.hpp"

#include <algorithm>
#include <vector>

#include "value.hpp"

namespace runner {

struct sequence::storage {
    reservation taken{};
    std::vector<value> values{};
};

sequence::sequence() : storage_(std::make_shared<storage>()) {}

sequence::sequence(std::initializer_list<value> values) : sequence()
{
    reserve(values.size());
    storage_->values = values;
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

void sequence::push_back(value added)
{
    if (size() == storage_->taken.bytes() / sizeof(value))
        reserve(std::max<std::size_t>(4, 2 * size()));
    storage_->values.push_back(std::move(added));
}

} // namespace runner
