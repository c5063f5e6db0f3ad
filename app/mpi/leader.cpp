#include "app/mpi/leader.h"

#include "app/mpi/worker.h"
#include "core/base/atomic_file.h"
#include "core/base/text.h"

#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace halftone::mpi {
namespace {

/// What a journal is of: the number of tasks, then a word a line.
std::string textOf(const std::vector<std::string> &command, std::size_t tasks)
{
    std::string text = std::to_string(tasks) + '\n';
    for (const std::string &word : command)
        text += printable(word, word.size() * 4 + 1) + '\n';
    return text;
}

} // namespace

Leader::Leader(const Call &call, int ranks)
    : m_call(call)
    , m_workers(static_cast<std::size_t>(ranks))
    , m_start(Clock::now())
{
}

std::string Leader::shardFile(std::size_t task) const
{
    return m_call.journal + '/' + std::to_string(task + 1) + "-of-" + std::to_string(m_call.tasks);
}

Result<void> Leader::openJournal()
{
    std::error_code failure;
    std::filesystem::create_directories(m_call.journal, failure);
    if (failure)
        return inFile(badInput({}, failure.message(), "a folder for the journal"), m_call.journal);
    const std::string file = m_call.journal + "/call";
    if (std::ifstream in(file); in) {
        std::ostringstream text;
        text << in.rdbuf();
        const std::string known = text.str();
        const auto tasks = parseInteger(known.substr(0, known.find('\n')));
        if (!tasks || *tasks < 1 || textOf(m_call.command, static_cast<std::size_t>(*tasks)) != known)
            return inFile(
                badInput({}, "the journal of another call", "this one, or that you remove the folder"), file);
        m_call.tasks = static_cast<std::size_t>(*tasks);
    } else {
        HALFTONE_CHECK(writeWhole(file, textOf(m_call.command, m_call.tasks)));
    }
    for (std::size_t k = 0; k < m_call.tasks; ++k) {
        if (std::filesystem::exists(shardFile(k), failure))
            ++m_done;
        else
            m_open.push_back(k);
    }
    m_before = m_done;
    return {};
}

Result<void> Leader::run()
{
    HALFTONE_CHECK(openJournal());
    HALFTONE_CHECK(serve());
    return merge();
}

Result<void> Leader::serve()
{
    constexpr auto kPause = std::chrono::milliseconds(2);
    while (m_stopped + 1 < m_workers.size()) {
        int isThere = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &isThere, &status);
        if (isThere == 0) {
            HALFTONE_CHECK(checkTimes());
            std::this_thread::sleep_for(kPause);
            continue;
        }
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        std::string bytes(static_cast<std::size_t>(size), '\0');
        MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        HALFTONE_CHECK(answer(status.MPI_SOURCE, status.MPI_TAG, bytes));
    }
    return {};
}

Result<void> Leader::answer(int rank, int tag, const std::string &bytes)
{
    Worker &worker = m_workers[static_cast<std::size_t>(rank)];
    if (tag == Failed)
        return badInput("shard " + std::to_string(worker.task.value_or(0) + 1) + " on rank "
                            + std::to_string(rank),
                        printable(bytes), "a shard; why not is told above");
    if (tag == Done && worker.task) {
        HALFTONE_CHECK(writeWhole(shardFile(*worker.task), bytes));
        ++m_done;
        ++worker.done;
        tellProgress();
    }
    handOut(rank);
    return {};
}

void Leader::handOut(int rank)
{
    Worker &worker = m_workers[static_cast<std::size_t>(rank)];
    std::array<std::uint64_t, 2> task{};
    worker.task.reset();
    if (!m_open.empty()) {
        worker.task = m_open.front();
        worker.since = Clock::now();
        m_open.pop_front();
        task = {*worker.task, m_call.tasks};
    } else {
        ++m_stopped;
    }
    MPI_Send(task.data(), sizeof task, MPI_BYTE, rank, worker.task ? Task : Stop, MPI_COMM_WORLD);
}

Result<void> Leader::checkTimes() const
{
    for (std::size_t rank = 1; rank < m_workers.size(); ++rank) {
        const Worker &worker = m_workers[rank];
        if (worker.task && Clock::now() - worker.since > std::chrono::duration<double>(m_call.timeLimit))
            return badInput("rank " + std::to_string(rank),
                            "shard " + std::to_string(*worker.task + 1) + " takes more than "
                                + std::to_string(static_cast<long>(m_call.timeLimit))
                                + " s: that host may hang",
                            "less, or a higher --time-limit; the same call goes on from " + m_call.journal);
    }
    return {};
}

void Leader::tellProgress() const
{
    const double seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
    const double left
        = seconds / static_cast<double>(m_done - m_before) * static_cast<double>(m_call.tasks - m_done);
    std::fprintf(stderr, "%zu of %zu shards, %.0f s left; by rank:", m_done, m_call.tasks, left);
    for (std::size_t rank = 1; rank < m_workers.size(); ++rank)
        std::fprintf(stderr, " %zu", m_workers[rank].done);
    std::fputc('\n', stderr);
}

/// The journal goes once the table is there.
Result<void> Leader::merge() const
{
    std::vector<std::string> words{m_call.program, "merge"};
    for (std::size_t k = 0; k < m_call.tasks; ++k)
        words.push_back(shardFile(k));
    words.insert(words.end(), {"--out", m_call.out});
    HALFTONE_TRY(const int code, runProgram(words));
    if (code != 0)
        return inFile(
            badInput("merge", "exit code " + std::to_string(code), "a table; why not is told above"),
            m_call.journal);
    std::error_code none;
    std::filesystem::remove_all(m_call.journal, none);
    std::printf("wrote %s: %zu shards, %zu of them from the journal\n", printable(m_call.out).c_str(),
                m_call.tasks, m_before);
    return {};
}

} // namespace halftone::mpi
