#pragma once
// Ranks that are processes of MPI (Debian: libopenmpi-dev or libmpich-dev; compile with mpicxx).

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

// Not the bindings for C++, which MPI has withdrawn; compilers warn about them.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <xloom/detail/core/communicator.hpp>
#include <xloom/detail/core/error.hpp>

namespace xloom::inline XLOOM_ABI {

/// A communicator of MPI. It has a duplicate of the caller's, so that its messages are never taken for those
/// of others, and is moved, not copied. The constructor and the destructor are collective. Bytes beyond
/// `most_bytes`, the same on all ranks, are sent in several messages, so their number may exceed 2^31.
///
/// Errors    rank_error: with the text of MPI, if that returns an error; by its default a rank that dies ends
///           all others.
class mpi_communicator {
public:
    explicit mpi_communicator(MPI_Comm all = MPI_COMM_WORLD, std::size_t most_bytes = std::size_t{1} << 30)
        : most_bytes_(std::clamp<std::size_t>(most_bytes, 1, INT_MAX))
    {
        require(MPI_Comm_dup(all, &mine_));
        require(MPI_Comm_set_errhandler(mine_, MPI_ERRORS_RETURN));
        int rank = 0, size = 0;
        require(MPI_Comm_rank(mine_, &rank));
        require(MPI_Comm_size(mine_, &size));
        rank_ = static_cast<std::size_t>(rank);
        size_ = static_cast<std::size_t>(size);
    }
    mpi_communicator(mpi_communicator&& other) noexcept
        : most_bytes_(other.most_bytes_),
          mine_(std::exchange(other.mine_, MPI_COMM_NULL)),
          rank_(other.rank_),
          size_(other.size_)
    {}
    mpi_communicator& operator=(mpi_communicator&&) = delete;
    ~mpi_communicator()
    {
        int is_finalized = 0;
        MPI_Finalized(&is_finalized);
        if (mine_ != MPI_COMM_NULL && is_finalized == 0 && std::uncaught_exceptions() == 0)
            MPI_Comm_free(&mine_);
    }

    std::size_t rank() const noexcept { return rank_; }
    std::size_t size() const noexcept { return size_; }

    void exchange(std::size_t destination, std::span<std::byte const> sent, std::size_t source,
        std::span<std::byte> received) const
    {
        while (!sent.empty() || !received.empty()) {
            auto const out = sent.first((std::min)(sent.size(), most_bytes_));
            auto const in = received.first((std::min)(received.size(), most_bytes_));
            require(MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE,
                out.empty() ? MPI_PROC_NULL : static_cast<int>(destination), 0, in.data(),
                static_cast<int>(in.size()), MPI_BYTE, in.empty() ? MPI_PROC_NULL : static_cast<int>(source),
                0, mine_, MPI_STATUS_IGNORE));
            sent = sent.subspan(out.size());
            received = received.subspan(in.size());
        }
    }

    void all_gather(std::span<std::byte const> mine, std::span<std::byte> all) const
    {
        if (mine.size() <= most_bytes_ / size_)
            return require(MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(),
                static_cast<int>(mine.size()), MPI_BYTE, mine_));
        detail::all_gather_by_exchange(*this, mine, all);
    }

private:
    static void require(int result)
    {
        if (result == MPI_SUCCESS)
            return;
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        MPI_Error_string(result, text, &length);
        detail::fail<rank_error>(
            "xloom::mpi_communicator: ", std::string_view(text, static_cast<std::size_t>(length)));
    }

    std::size_t most_bytes_;
    MPI_Comm mine_ = MPI_COMM_NULL;
    std::size_t rank_ = 0;
    std::size_t size_ = 0;
};

/// Calls f(communicator) on all ranks of MPI_COMM_WORLD, between MPI_Init_thread and MPI_Finalize. A rank
/// whose f throws prints the error and ends all ranks by MPI_Abort, since others may wait for it. It is the
/// body of a main function.
///
/// Errors    rank_error: MPI does not start.
template <class F>
void run_mpi_ranks(F const& f)
{
    int provided = MPI_THREAD_SINGLE; // funneled: the threads of policies do not call MPI
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        detail::fail<rank_error>("xloom::run_mpi_ranks: MPI_Init_thread failed");
#ifdef __cpp_exceptions
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        f(mpi_communicator());
    } catch (std::exception const& error) {
        std::fprintf(stderr, "rank %d ends all ranks: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    } catch (...) {
        std::fprintf(stderr, "rank %d ends all ranks: an exception that is no std::exception\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
#else
    f(mpi_communicator());
#endif
    MPI_Finalize();
}

} // namespace xloom::inline XLOOM_ABI
