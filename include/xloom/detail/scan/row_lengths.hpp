#pragma once
// The lengths of the rows of a batch.

#include <optional>
#include <string_view>
#include <type_traits>

#include <xloom/detail/check/lengths.hpp>
#include <xloom/detail/check/scan_batched.hpp>
#include <xloom/detail/tensor/tensor_ref.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// The items of sequence_lens, checked; T for every row if it is omitted.
class row_lengths {
public:
    template <class Lens>
    row_lengths(std::string_view op, Lens const& sequence_lens, batch_extent extent)
        : given_(refer(sequence_lens)), longest_(extent.length)
    {
        check_rank(op, "sequence_lens", given_.rank());
        check_lengths(op, "sequence_lens", given_, extent.batch, "T", extent.length);
    }

    lengths_ref const& given() const { return given_; }

    std::size_t operator[](std::size_t b) const
    {
        return given_.is_given() ? static_cast<std::size_t>(given_[b]) : longest_;
    }

private:
    template <class Lens>
    static lengths_ref refer([[maybe_unused]] Lens const& sequence_lens)
    {
        if constexpr (std::is_same_v<Lens, std::nullopt_t>)
            return {};
        else
            return sequence_lens;
    }

    lengths_ref given_;
    std::size_t longest_;
};

} // namespace xloom::inline XLOOM_ABI::detail
