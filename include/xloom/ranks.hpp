#pragma once
// Operators whose operands are divided over ranks, and ranks as threads. Ranks of MPI: xloom/ranks/mpi.hpp.

#include <xloom/ranks/distributed_associative_scan.hpp>
#include <xloom/ranks/distributed_gather_nd.hpp>
#include <xloom/ranks/distributed_linear_recurrence.hpp>
#include <xloom/ranks/distributed_scatter_nd.hpp>
#include <xloom/ranks/distributed_sum.hpp>
#include <xloom/ranks/thread_ranks.hpp>
