// A program that must compile for any vector unit, named with some of its processor's options or all.

#include <xloom/activations.hpp>
#include <xloom/lstm_cell.hpp>
#include <xloom/packed_matrix.hpp>

template class xloom::packed_matrix<float>;
template class xloom::lstm_cell<float>;
