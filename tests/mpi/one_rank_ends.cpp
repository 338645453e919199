// A program in which one rank ends while the others wait for it: with "throws" by an exception, with "dies"
// without a word.

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <xloom/ranks/mpi.hpp>

int main(int, char** argv)
{
    xloom::run_mpi_ranks([&](xloom::mpi_communicator const& ranks) {
        if (ranks.rank() == 1) {
            if (std::string_view(argv[1]) == "throws")
                throw std::domain_error("enough");
            std::abort();
        }
        std::array<std::byte, 1> received{};
        ranks.exchange(1, {}, 1, received);
    });
}
