#include "app/mpi/call.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace halftone::mpi {
namespace {

constexpr std::size_t kShardsPerWorker = 8;
constexpr double kMaxShards = 1 << 20;
constexpr std::array<std::string_view, 3> kCommands{"calibrate", "compare", "tune"};
constexpr std::array<std::string_view, 2> kSent{"--policy", "--table"};

Result<double> numberOf(const std::string &option, const std::string &text, double most)
{
    const auto number = parseReal(text);
    if (!number || !(*number > 0) || *number > most)
        return badCall(option, '"' + printable(text, 60) + '"', "a number above 0");
    return *number;
}

/// "--policy=F" as two words.
void addWord(const std::string &word, std::vector<std::string> &command)
{
    const std::size_t equals = word.find('=');
    if (std::ranges::find(kSent, std::string_view(word).substr(0, equals)) != kSent.end()
        && equals != std::string::npos)
        command.insert(command.end(), {word.substr(0, equals), word.substr(equals + 1)});
    else
        command.push_back(word);
}

} // namespace

std::vector<std::size_t> Call::sentFiles() const
{
    std::vector<std::size_t> places;
    for (std::size_t k = 1; k < command.size(); ++k) {
        if (std::ranges::find(kSent, command[k - 1]) != kSent.end())
            places.push_back(k);
    }
    return places;
}

Result<Call> Call::read(const std::vector<std::string> &arguments, int ranks)
{
    Call call;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const std::string &word = arguments[k];
        const bool isOwn
            = word == "--out" || word == "--tasks" || word == "--time-limit" || word == "--statistics";
        if (!isOwn) {
            addWord(word, call.command);
            continue;
        }
        if (++k == arguments.size())
            return badCall(word, "needs a value");
        if (word == "--out") {
            call.out = arguments[k];
        } else if (word == "--statistics") {
            call.statistics = arguments[k];
        } else if (word == "--tasks") {
            HALFTONE_TRY(const double shards, numberOf(word, arguments[k], kMaxShards));
            call.shards = static_cast<std::size_t>(shards);
        } else {
            HALFTONE_TRY(call.timeLimit, numberOf(word, arguments[k], 1e9));
        }
    }
    if (call.command.empty() || std::ranges::find(kCommands, call.command[0]) == kCommands.end())
        return badCall("halftone-mpi",
                       call.command.empty() ? "no command" : '"' + printable(call.command[0], 60) + '"',
                       "mpirun -n RANKS halftone-mpi calibrate|compare|tune … --out T.json");
    if (call.out.empty())
        return badCall("--out", "missing", "; pass a file for the table");
    if (ranks < 2)
        return badCall("mpirun", "started with one rank", "two or more: rank 0 only distributes the work");
    if (call.isSearch() && std::ranges::find(call.command, "--state") != call.command.end())
        return badCall("--state", "not available here: the journal keeps the state");
    if (!call.isSearch() && std::ranges::find(call.command, "--threads") == call.command.end())
        call.command.insert(call.command.end(), {"--threads", "1"}); // a rank is a thread's worth
    call.journal = call.out + ".journal";
    call.areShardsAsked = call.shards > 0;
    if (!call.areShardsAsked)
        call.shards = kShardsPerWorker * static_cast<std::size_t>(ranks - 1);
    std::error_code none;
    call.program
        = (std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "halftone-cli").string();
    return call;
}

} // namespace halftone::mpi
