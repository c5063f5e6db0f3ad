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
#include <optional>
#include <thread>
#include <utility>

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

/// A program that computes one shard after another, so that the model is loaded once.
class Shards
{
public:
    Shards(const Call &call, std::string folder)
        : m_call(call)
        , m_folder(std::move(folder))
    {
    }

    /// fails: as the shard
    Result<std::string> of(const std::string &order)
    {
        std::array<std::uint64_t, 2> part{};
        std::memcpy(part.data(), order.data(), sizeof part);
        if (!m_program)
            HALFTONE_CHECK(start(part[1], std::string_view(order).substr(sizeof part)));
        if (!m_program->tell(std::to_string(part[0] + 1)).ok() || !m_program->readLine()) {
            const int code = m_program->wait();
            m_program.reset();
            return badInput({}, "failed with exit code " + std::to_string(code));
        }
        std::ifstream in(m_folder + "/shard", std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }

    /// Until the next one is asked for.
    void rest()
    {
        if (m_program)
            m_program->wait();
        m_program.reset();
    }

private:
    Result<void> start(std::uint64_t all, std::string_view groups)
    {
        std::vector<std::string> words{m_call.program};
        words.insert(words.end(), m_call.command.begin(), m_call.command.end());
        words.insert(words.end(), {"--shard", "-/" + std::to_string(all), "--out", m_folder + "/shard"});
        if (!groups.empty()) {
            HALFTONE_CHECK(writeWhole(m_folder + "/groups", groups));
            words.insert(words.end(), {"--state", m_folder + "/groups"});
        }
        m_program.emplace();
        return m_program->start(words, Child::Output::Read, true);
    }

    const Call &m_call;
    std::string m_folder;
    std::optional<Child> m_program;
};

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
    Shards shards(call, folder.string());
    tell(Ask, hostName());
    for (;;) {
        Tag tag{};
        const std::string order = receive(tag);
        if (tag == Stop)
            break;
        if (tag == File && !awaited.empty()) {
            takeFile(order, call.command[awaited.front()], folder.string());
            awaited.erase(awaited.begin());
            continue;
        }
        if (tag == Rest) {
            shards.rest();
            continue;
        }
        const Result<std::string> shard = shards.of(order);
        tell(shard.ok() ? Done : Failed, shard.ok() ? shard.value() : shard.error().message());
    }
    shards.rest();
    fs::remove_all(folder, none);
}

} // namespace halftone::mpi
