// A program that must compile for any vector unit, named with some of its processor's options or all.

#include <xloom/recurrent/activations.hpp>
#include <xloom/recurrent/lstm_cell.hpp>
#include <xloom/recurrent/packed_matrix.hpp>

template class xloom::packed_matrix<float>;
template class xloom::detail::recurrent_cell<xloom::detail::lstm_family, float>; // lstm_cell<float>
