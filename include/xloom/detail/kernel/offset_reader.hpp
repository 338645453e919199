#pragma once
// A type-erased reader of the offsets of index tuples, for every index type and bounds rule.

#include <algorithm>

#include <xloom/detail/kernel/position_offsets.hpp>

namespace xloom::inline XLOOM_ABI::kernel {

namespace detail {

template <class TupleOffset, std::integral Index>
void read_offsets(TupleOffset const offset_of, Index const* tuple, std::size_t count, std::ptrdiff_t* offsets)
{
    for (std::size_t i = 0; i < count; ++i, tuple += offset_of.width())
        offsets[i] = offset_of(tuple);
}

template <bounds Bounds, std::integral Index>
bool read_offsets(
    index_tuples<Index> const& tuples, std::size_t from, std::size_t count, std::ptrdiff_t* offsets)
{
    with_tuple_offset<Bounds>(tuples, [&](auto const& offset_of) {
        read_offsets(offset_of, tuples.first + from * offset_of.width(), count, offsets);
    });
    return true;
}

} // namespace detail

/// A reader of the offsets of index tuples.
class offset_reader {
public:
    /// Requires that `tuples` outlives the reader and, with bounds::assume, are_in_range(tuples).
    template <std::integral Index>
    offset_reader(index_tuples<Index> const& tuples, bounds rule, position_offsets const& positions = {})
        : positions_(positions),
          tuples_(&tuples),
          count_(tuples.count),
          read_([](void const* t, bounds r, std::size_t from, std::size_t count, std::ptrdiff_t* offsets) {
              auto const& all = *static_cast<index_tuples<Index> const*>(t);
              switch (r) {
              case bounds::drop:
                  return detail::read_offsets<bounds::drop>(all, from, count, offsets);
              case bounds::clip:
                  return detail::read_offsets<bounds::clip>(all, from, count, offsets);
              case bounds::check:
                  if (!kernel::are_in_range(all, from, count))
                      return false;
                  break;
              case bounds::assume:
                  break;
              }
              return detail::read_offsets<bounds::assume>(all, from, count, offsets);
          }),
          rule_(rule)
    {}

    /// Returns a reader of the same tuples from the last to the first.
    offset_reader backward() const
    {
        offset_reader other = *this;
        other.is_backward_ = !is_backward_;
        return other;
    }

    std::size_t count() const { return count_; }
    bool may_drop() const { return rule_ == bounds::drop; }

    /// Writes the offsets of `count` tuples, beginning at position `from`. Returns false and writes nothing
    /// if the rule is bounds::check and one of their indices is out of range.
    bool operator()(std::size_t from, std::size_t count, std::ptrdiff_t* offsets) const
    {
        std::size_t const first = is_backward_ ? count_ - from - count : from;
        if (!read_(tuples_, rule_, first, count, offsets))
            return false;
        positions_.add_to(offsets, first, count);
        if (is_backward_)
            std::reverse(offsets, offsets + count);
        return true;
    }

private:
    position_offsets positions_;
    void const* tuples_;
    std::size_t count_;
    bool (*read_)(void const*, bounds, std::size_t, std::size_t, std::ptrdiff_t*);
    bounds rule_;
    bool is_backward_ = false;
};

} // namespace xloom::inline XLOOM_ABI::kernel
