#pragma once
// The operands' names in compile errors, spelt as in ONNX.

#include <string_view>

#include <xloom/detail/core/abi.hpp>

namespace xloom::inline XLOOM_ABI::detail {

/// A compile-time error of an operand that a tensor_ref or a lengths_ref refers to.
enum class ref_error { none, lazy, kind, item, integer, temporary, constant };

namespace names {

// The message of a static_assert is a literal, so only the preprocessor can insert a name.
#define XLOOM_NAMED_OPERAND(type, name)                                                                      \
    struct type {                                                                                            \
        static constexpr std::string_view text = name;                                                       \
                                                                                                             \
        template <ref_error Error>                                                                           \
        static consteval bool fits()                                                                         \
        {                                                                                                    \
            static_assert(Error != ref_error::lazy,                                                          \
                "xloom: " name " must be a tensor in memory, but a lazy expression was passed; put its "     \
                "value into a variable first");                                                              \
            static_assert(Error != ref_error::kind,                                                          \
                "xloom: " name " must be a tensor in memory: a container, adaptor or view of xtensor, or a " \
                "type with xloom::enable_tensor");                                                           \
            static_assert(Error != ref_error::item,                                                          \
                "xloom: " name " must have the element type of the operator's other tensors; convert it "    \
                "into a variable first, "                                                                    \
                "by xt::cast<float> for example");                                                           \
            static_assert(                                                                                   \
                Error != ref_error::integer, "xloom: " name " must hold integers, of any integer type");     \
            static_assert(Error != ref_error::temporary,                                                     \
                "xloom: " name " must be a variable or a view of one, but a temporary was passed, which is " \
                "gone when it is used");                                                                     \
            static_assert(                                                                                   \
                Error != ref_error::constant, "xloom: " name " is written, so it must not be const");        \
            return Error == ref_error::none;                                                                 \
        }                                                                                                    \
    };

/// The name in errors of a reference made before the call, whose operand is not known yet.
XLOOM_NAMED_OPERAND(any_tensor, "an operand")
XLOOM_NAMED_OPERAND(any_lengths, "lengths")

XLOOM_NAMED_OPERAND(X, "X")
XLOOM_NAMED_OPERAND(W, "W")
XLOOM_NAMED_OPERAND(R, "R")
XLOOM_NAMED_OPERAND(B, "B")
XLOOM_NAMED_OPERAND(P, "P")
XLOOM_NAMED_OPERAND(QW, "QW")
XLOOM_NAMED_OPERAND(MW, "MW")
XLOOM_NAMED_OPERAND(V, "V")
XLOOM_NAMED_OPERAND(M, "M")
XLOOM_NAMED_OPERAND(AW, "AW")
XLOOM_NAMED_OPERAND(bias, "bias")
XLOOM_NAMED_OPERAND(sequence_lens, "sequence_lens")
XLOOM_NAMED_OPERAND(memory_seq_lens, "memory_seq_lens")
XLOOM_NAMED_OPERAND(initial_h, "initial_h")
XLOOM_NAMED_OPERAND(initial_c, "initial_c")
XLOOM_NAMED_OPERAND(initial_attention, "initial_attention")
XLOOM_NAMED_OPERAND(initial_alignment, "initial_alignment")
XLOOM_NAMED_OPERAND(Y, "Y")
XLOOM_NAMED_OPERAND(Y_h, "Y_h")
XLOOM_NAMED_OPERAND(Y_c, "Y_c")
XLOOM_NAMED_OPERAND(alignments, "alignments")
XLOOM_NAMED_OPERAND(Y_attention, "Y_attention")
XLOOM_NAMED_OPERAND(Y_alignment, "Y_alignment")
XLOOM_NAMED_OPERAND(ct_data, "ct_data")
XLOOM_NAMED_OPERAND(ct_updates, "ct_updates")
XLOOM_NAMED_OPERAND(ct_Y, "ct_Y")
XLOOM_NAMED_OPERAND(ct_Y_h, "ct_Y_h")
XLOOM_NAMED_OPERAND(ct_Y_c, "ct_Y_c")
XLOOM_NAMED_OPERAND(ct_X, "ct_X")
XLOOM_NAMED_OPERAND(ct_W, "ct_W")
XLOOM_NAMED_OPERAND(ct_R, "ct_R")
XLOOM_NAMED_OPERAND(ct_B, "ct_B")
XLOOM_NAMED_OPERAND(ct_P, "ct_P")
XLOOM_NAMED_OPERAND(ct_initial_h, "ct_initial_h")
XLOOM_NAMED_OPERAND(ct_initial_c, "ct_initial_c")
XLOOM_NAMED_OPERAND(ct_alignments, "ct_alignments")
XLOOM_NAMED_OPERAND(ct_Y_attention, "ct_Y_attention")
XLOOM_NAMED_OPERAND(ct_Y_alignment, "ct_Y_alignment")
XLOOM_NAMED_OPERAND(ct_QW, "ct_QW")
XLOOM_NAMED_OPERAND(ct_MW, "ct_MW")
XLOOM_NAMED_OPERAND(ct_V, "ct_V")
XLOOM_NAMED_OPERAND(ct_M, "ct_M")
XLOOM_NAMED_OPERAND(ct_AW, "ct_AW")
XLOOM_NAMED_OPERAND(ct_initial_attention, "ct_initial_attention")
XLOOM_NAMED_OPERAND(ct_initial_alignment, "ct_initial_alignment")
XLOOM_NAMED_OPERAND(u, "u")
XLOOM_NAMED_OPERAND(delta, "delta")
XLOOM_NAMED_OPERAND(A, "A")
XLOOM_NAMED_OPERAND(C, "C")
XLOOM_NAMED_OPERAND(D, "D")
XLOOM_NAMED_OPERAND(z, "z")
XLOOM_NAMED_OPERAND(delta_bias, "delta_bias")
XLOOM_NAMED_OPERAND(initial_state, "initial_state")
XLOOM_NAMED_OPERAND(y, "y")
XLOOM_NAMED_OPERAND(final_state, "final_state")
XLOOM_NAMED_OPERAND(ct_y, "ct_y")
XLOOM_NAMED_OPERAND(ct_final_state, "ct_final_state")
XLOOM_NAMED_OPERAND(ct_u, "ct_u")
XLOOM_NAMED_OPERAND(ct_delta, "ct_delta")
XLOOM_NAMED_OPERAND(ct_A, "ct_A")
XLOOM_NAMED_OPERAND(ct_C, "ct_C")
XLOOM_NAMED_OPERAND(ct_D, "ct_D")
XLOOM_NAMED_OPERAND(ct_z, "ct_z")
XLOOM_NAMED_OPERAND(ct_delta_bias, "ct_delta_bias")
XLOOM_NAMED_OPERAND(ct_initial_state, "ct_initial_state")

#undef XLOOM_NAMED_OPERAND

} // namespace names
} // namespace xloom::inline XLOOM_ABI::detail
