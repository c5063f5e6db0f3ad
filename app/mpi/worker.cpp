#include "app/mpi/worker.h"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace halftone::mpi {
namespace {

constexpr int kLeader = 0;

void tell(Tag tag, const std::string &bytes)
{
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, kLeader, tag, MPI_COMM_WORLD);
}

std::string shardOf(const std::array<std::uint64_t, 2> &task)
{
    return std::to_string(task[0] + 1) + '/' + std::to_string(task[1]);
}

void compute(const Call &call, const std::array<std::uint64_t, 2> &task)
{
    const auto file = std::filesystem::temp_directory_path()
        / ("halftone-mpi-" + std::to_string(::getpid()) + ".statistics");
    std::vector<std::string> words{call.program};
    words.insert(words.end(), call.command.begin(), call.command.end());
    words.insert(words.end(), {"--shard", shardOf(task), "--out", file.string()});
    const Result<int> code = runProgram(words);
    std::error_code none;
    if (code.ok() && code.value() == 0) {
        std::ifstream in(file, std::ios::binary);
        tell(Done, {std::istreambuf_iterator<char>(in), {}});
    } else {
        tell(Failed, code.ok() ? "exit code " + std::to_string(code.value()) : code.error().message());
    }
    std::filesystem::remove(file, none);
}

} // namespace

void work(const Call &call)
{
    tell(Ask, {});
    for (;;) {
        std::array<std::uint64_t, 2> task{};
        MPI_Status status;
        MPI_Recv(task.data(), sizeof task, MPI_BYTE, kLeader, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == Stop)
            return;
        compute(call, task);
    }
}

} // namespace halftone::mpi
