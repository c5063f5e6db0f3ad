#include "app/mpi/worker.h"

#include "app/mpi/child.h"
#include "core/base/atomic_file.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace halftone::mpi {
namespace {

constexpr int kLeader = 0;

void tell(Tag tag, const std::string &bytes)
{
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, kLeader, tag, MPI_COMM_WORLD);
}

/// Without using up the processor that others compute with.
std::string receive(Tag &tag)
{
    constexpr auto kPause = std::chrono::milliseconds(2);
    MPI_Status status;
    for (int isThere = 0; isThere == 0;) {
        MPI_Iprobe(kLeader, MPI_ANY_TAG, MPI_COMM_WORLD, &isThere, &status);
        if (isThere == 0)
            std::this_thread::sleep_for(kPause);
    }
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    MPI_Recv(bytes.data(), size, MPI_BYTE, kLeader, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    tag = static_cast<Tag>(status.MPI_TAG);
    return bytes;
}

std::string hostName()
{
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
}

/// fails: as the shard
Result<std::string> shardOf(const Call &call, const std::string &task, const std::string &folder)
{
    std::array<std::uint64_t, 2> part{};
    std::memcpy(part.data(), task.data(), sizeof part);
    const std::string shard = folder + "/shard";
    std::vector<std::string> words{call.program};
    words.insert(words.end(), call.command.begin(), call.command.end());
    words.insert(words.end(),
                 {"--shard", std::to_string(part[0] + 1) + '/' + std::to_string(part[1]), "--out", shard});
    if (task.size() > sizeof part) {
        HALFTONE_CHECK(writeWhole(folder + "/groups", std::string_view(task).substr(sizeof part)));
        words.insert(words.end(), {"--state", folder + "/groups"});
    }
    HALFTONE_TRY(const int code, runProgram(words));
    if (code != 0)
        return badInput({}, "exit code " + std::to_string(code), "a shard");
    std::ifstream in(shard, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// A file that rank 0 has, here: the word that named it names this one. What cannot be written is missed by the shard's program.
void takeFile(const std::string &content, std::string &word, const std::string &folder)
{
    std::string name = word;
    std::ranges::replace(name, '/', '_');
    word = folder + '/' + name;
    (void)writeWhole(word, content);
}

} // namespace

void work(Call call)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("halftone-mpi-" + std::to_string(::getpid()));
    std::error_code none;
    fs::create_directories(folder, none);
    std::vector<std::size_t> awaited = call.sentFiles();
    tell(Ask, hostName());
    for (;;) {
        Tag tag{};
        const std::string task = receive(tag);
        if (tag == Stop)
            break;
        if (tag == File && !awaited.empty()) {
            takeFile(task, call.command[awaited.front()], folder.string());
            awaited.erase(awaited.begin());
            continue;
        }
        const Result<std::string> shard = shardOf(call, task, folder.string());
        tell(shard.ok() ? Done : Failed, shard.ok() ? shard.value() : shard.error().message());
    }
    fs::remove_all(folder, none);
}

} // namespace halftone::mpi
