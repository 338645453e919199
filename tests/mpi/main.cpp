// The main function of tests that mpirun runs. What rank 0 prints is what all found: on_ranks agrees.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <xloom/ranks/mpi.hpp>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    doctest::Context context(argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        context.setOption("minimal", true);
    int const result = context.run();
    MPI_Finalize();
    return result;
}
