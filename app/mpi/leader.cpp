#include "app/mpi/leader.h"

#include "app/mpi/worker.h"
#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/text.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace halftone::mpi {
namespace {

/// What a journal is of: the number of shards, then a word a line.
std::string textOf(const std::vector<std::string> &command, std::size_t shards)
{
    std::string text = std::to_string(shards) + '\n';
    for (const std::string &word : command)
        text += printable(word, word.size() * 4 + 1) + '\n';
    return text;
}

std::string contentOf(const std::string &file)
{
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

} // namespace

Leader::Leader(const Call &call, int ranks)
    : m_call(call)
    , m_workers(static_cast<std::size_t>(ranks))
    , m_start(Clock::now())
{
}

std::string Leader::shardFile(std::size_t shard) const
{
    return m_call.journal + '/' + std::to_string(shard + 1) + "-of-" + std::to_string(m_call.shards);
}

Result<void> Leader::openJournal()
{
    std::error_code failure;
    std::filesystem::create_directories(m_call.journal, failure);
    if (failure)
        return inFile(badInput({}, failure.message(), "a folder that can be created"), m_call.journal);
    const std::string file = m_call.journal + "/call";
    if (const std::string known = contentOf(file); !known.empty()) {
        const auto shards = parseInteger(known.substr(0, known.find('\n')));
        if (!shards || *shards < 1 || textOf(m_call.command, static_cast<std::size_t>(*shards)) != known)
            return inFile(badInput({}, "this journal belongs to a different run",
                                   "; remove the folder or choose another --out"),
                          file);
        m_call.shards = static_cast<std::size_t>(*shards);
    } else {
        HALFTONE_CHECK(countShards());
        HALFTONE_CHECK(writeWhole(file, textOf(m_call.command, m_call.shards)));
    }
    for (std::size_t k = 0; k < m_call.shards; ++k) {
        if (std::filesystem::exists(shardFile(k), failure))
            ++m_done;
        else
            m_open.push_back(k);
    }
    m_before = m_done;
    return tellProgress("starting");
}

/// No shard can do without an example.
Result<void> Leader::countShards()
{
    if (m_call.areShardsAsked || m_call.isSearch())
        return {};
    Child counting;
    HALFTONE_CHECK(counting.start(commandWith({"--count-shards"}), Child::Output::Read));
    const auto most = parseInteger(counting.readLine().value_or(std::string()));
    if (const int code = counting.wait(); !most || *most < 1)
        return badInput(m_call.command[0],
                        "cannot count the examples (exit code " + std::to_string(code)
                            + "); see the error above");
    m_call.shards = std::min(m_call.shards, static_cast<std::size_t>(*most));
    return {};
}

Result<void> Leader::readFiles()
{
    for (const std::size_t place : m_call.sentFiles()) {
        const std::string &file = m_call.command[place];
        std::error_code failure;
        if (!std::filesystem::is_regular_file(file, failure))
            return inFile(badInput(m_call.command[place - 1], "no such file on rank 0"), file);
        m_files.push_back(contentOf(file));
    }
    return {};
}

std::vector<std::string> Leader::commandWith(const std::vector<std::string> &more) const
{
    std::vector<std::string> words{m_call.program};
    words.insert(words.end(), m_call.command.begin(), m_call.command.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Result<void> Leader::run()
{
    HALFTONE_CHECK(openJournal());
    HALFTONE_CHECK(readFiles());
    if (m_call.isSearch())
        HALFTONE_CHECK(timeGroups());
    HALFTONE_CHECK(startMerge());
    HALFTONE_CHECK(serve());
    HALFTONE_CHECK(finish());
    stopWorkers();
    return {};
}

/// While nobody else computes, so that times are right.
Result<void> Leader::timeGroups()
{
    const std::string file = inJournal("groups");
    m_groups = contentOf(file);
    if (!m_groups.empty())
        return {};
    HALFTONE_CHECK(tellProgress("timing each layer"));
    HALFTONE_TRY(const int code,
                 runProgram(commandWith({"--groups-only", "--state", file, "--out", m_call.out})));
    if (code != 0)
        return badInput(
            "tune", "cannot time the groups (exit code " + std::to_string(code) + "); see the error above");
    m_groups = contentOf(file);
    return {};
}

/// What is in the journal comes first.
Result<void> Leader::startMerge()
{
    const std::string out = m_call.isSearch() ? inJournal("candidates") : m_call.out;
    std::vector<std::string> words{m_call.program, "merge", "-", "--out", out};
    if (!m_call.isSearch() && !m_call.statistics.empty())
        words.insert(words.end(), {"--statistics", m_call.statistics});
    HALFTONE_CHECK(m_merge.start(words, Child::Output::Dropped, true));
    std::error_code none;
    for (std::size_t k = 0; k < m_call.shards; ++k)
        if (std::filesystem::exists(shardFile(k), none))
            HALFTONE_CHECK(m_merge.tell(shardFile(k)));
    return {};
}

Result<void> Leader::serve()
{
    constexpr auto kPause = std::chrono::milliseconds(10); // its processor may be one that computes
    while (m_done < m_call.shards) {
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
        HALFTONE_CHECK(take(status.MPI_SOURCE, status.MPI_TAG, bytes));
    }
    return {};
}

std::string Leader::nameOf(std::size_t rank) const
{
    return "rank " + std::to_string(rank) + " on " + printable(m_workers[rank].host);
}

Result<void> Leader::take(int rank, int tag, const std::string &bytes)
{
    Worker &worker = m_workers[static_cast<std::size_t>(rank)];
    if (tag == Failed)
        return badInput("shard " + std::to_string(worker.shard.value_or(0) + 1) + " on "
                            + nameOf(static_cast<std::size_t>(rank)),
                        printable(bytes) + "; see the error above");
    if (tag == Ask) {
        worker.host = bytes.empty() ? "?" : bytes;
        for (const std::string &file : m_files)
            MPI_Send(file.data(), static_cast<int>(file.size()), MPI_BYTE, rank, File, MPI_COMM_WORLD);
    }
    if (tag == Done && worker.shard) {
        const std::string file = shardFile(*worker.shard);
        HALFTONE_CHECK(writeWhole(file, bytes));
        HALFTONE_CHECK(m_merge.tell(file));
        ++m_done;
        ++worker.done;
    }
    HALFTONE_CHECK(handOut(rank));
    return tellProgress("computing");
}

/// Where there is nothing to do, a worker waits: others may die, and with them the job.
Result<void> Leader::handOut(int rank)
{
    Worker &worker = m_workers[static_cast<std::size_t>(rank)];
    worker.shard.reset();
    if (m_open.empty()) {
        MPI_Send(nullptr, 0, MPI_BYTE, rank, Rest, MPI_COMM_WORLD);
        return {};
    }
    worker.shard = m_open.front();
    worker.since = Clock::now();
    m_open.pop_front();
    const std::array<std::uint64_t, 2> part{*worker.shard, m_call.shards};
    const std::string order
        = std::string(reinterpret_cast<const char *>(part.data()), sizeof part) + m_groups;
    MPI_Send(order.data(), static_cast<int>(order.size()), MPI_BYTE, rank, Shard, MPI_COMM_WORLD);
    return {};
}

void Leader::stopWorkers()
{
    for (std::size_t rank = 1; rank < m_workers.size(); ++rank) {
        std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
        if (m_workers[rank].host.empty()) // it has not come to be heard
            MPI_Recv(host.data(), static_cast<int>(host.size()), MPI_BYTE, static_cast<int>(rank), Ask,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(nullptr, 0, MPI_BYTE, static_cast<int>(rank), Stop, MPI_COMM_WORLD);
    }
}

Result<void> Leader::checkTimes() const
{
    for (std::size_t rank = 1; rank < m_workers.size(); ++rank) {
        const Worker &worker = m_workers[rank];
        if (worker.shard && Clock::now() - worker.since > std::chrono::duration<double>(m_call.timeLimit))
            return badInput(
                nameOf(rank),
                "shard " + std::to_string(*worker.shard + 1) + " took more than "
                    + std::to_string(static_cast<long>(m_call.timeLimit)) + " s; the host may hang",
                "; raise --time-limit, then run the same command to resume from " + m_call.journal);
    }
    return {};
}

/// A line for people, and the journal's progress.json for programs: {phase, tasks (shards), done, before, seconds, ranks [{host, done, task (shard)}]}.
Result<void> Leader::tellProgress(const std::string &phase) const
{
    const double seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
    OrderedJson json{{"phase", phase},     {"tasks", m_call.shards}, {"done", m_done},
                     {"before", m_before}, {"seconds", seconds},     {"ranks", OrderedJson::array()}};
    std::map<std::string, std::size_t> byHost;
    for (std::size_t rank = 1; rank < m_workers.size(); ++rank) {
        const Worker &worker = m_workers[rank];
        json["ranks"].push_back({{"host", worker.host},
                                 {"done", worker.done},
                                 {"task", worker.shard ? OrderedJson(*worker.shard + 1) : OrderedJson()}});
        byHost[worker.host] += worker.done;
    }
    std::string line = std::to_string(m_done) + " of " + std::to_string(m_call.shards) + " shards, " + phase;
    if (m_done > m_before)
        line += ", "
            + std::to_string(std::lround(seconds / static_cast<double>(m_done - m_before)
                                         * static_cast<double>(m_call.shards - m_done)))
            + " s left";
    for (const auto &[host, done] : byHost)
        if (!host.empty())
            line += "; " + printable(host) + ' ' + std::to_string(done);
    HALFTONE_CHECK(writeWhole(inJournal("progress.json"), jsonText(json)));
    std::fprintf(stderr, "%s\n", line.c_str()); // after it: who reads the line finds the file
    return {};
}

/// In one step, so that who is killed meanwhile does not leave a part of it.
void Leader::dropJournal() const
{
    const std::string dropped = m_call.journal + "-done";
    std::error_code none;
    std::filesystem::remove_all(dropped, none);
    std::filesystem::rename(m_call.journal, dropped, none);
    std::filesystem::remove_all(dropped, none);
}

/// The journal goes once the table is there.
Result<void> Leader::finish()
{
    const auto check = [this](const std::string &what, int code) {
        return code == 0
            ? Result<void>()
            : inFile(
                badInput(what, "failed with exit code " + std::to_string(code) + "; see the error above"),
                m_call.journal);
    };
    HALFTONE_CHECK(tellProgress("merging"));
    HALFTONE_CHECK(check("merge", m_merge.wait()));
    if (m_call.isSearch()) {
        // What a search that was killed here has measured is in its state.
        const std::string state = inJournal("state");
        std::error_code failure;
        if (!std::filesystem::exists(state, failure))
            std::filesystem::copy_file(inJournal("candidates"), state, failure);
        HALFTONE_CHECK(tellProgress("measuring models on rank 0"));
        HALFTONE_TRY(const int code,
                     runProgram(commandWith({"--state", state, "--out", m_call.out}), Child::Output::Shown));
        HALFTONE_CHECK(check("tune", code));
        if (!m_call.statistics.empty())
            HALFTONE_CHECK(writeWhole(m_call.statistics, contentOf(state)));
    }
    dropJournal();
    std::printf("wrote %s: %zu shards, %zu of them from the journal\n", printable(m_call.out).c_str(),
                m_call.shards, m_before);
    return {};
}

} // namespace halftone::mpi
