#include "app/hosts/host_run.h"
#include "core/base/json.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

/// What a run says of itself while it runs, and why it ended.
namespace halftone::app {
namespace {

/// A file that another program writes: what is not there is 0.
std::size_t numberAt(const OrderedJson &json, const char *key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

std::string textAt(const OrderedJson &json, const char *key)
{
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

} // namespace

std::optional<double> RunProgress::secondsLeft() const
{
    if (done <= before || seconds <= 0)
        return std::nullopt;
    return seconds / static_cast<double>(done - before)
        * static_cast<double>(shards - std::min(done, shards));
}

std::optional<RunProgress> readProgress(std::string_view text)
{
    const OrderedJson json = parseOrdered(text);
    if (!json.is_object())
        return std::nullopt;
    RunProgress progress;
    progress.phase = textAt(json, "phase");
    progress.shards = numberAt(json, "tasks");
    progress.done = numberAt(json, "done");
    progress.before = numberAt(json, "before");
    if (const auto seconds = json.find("seconds"); seconds != json.end() && seconds->is_number())
        progress.seconds = seconds->get<double>();
    const auto ranks = json.find("ranks");
    if (ranks == json.end() || !ranks->is_array())
        return progress;
    for (const OrderedJson &rank : *ranks) {
        const std::string name = rank.is_object() ? textAt(rank, "host") : std::string();
        if (name.empty()) // it has not come to be heard
            continue;
        auto host = std::ranges::find(progress.hosts, name, &HostProgress::host);
        if (host == progress.hosts.end())
            host = progress.hosts.insert(progress.hosts.end(), HostProgress{name, 0, 0, {}});
        ++host->ranks;
        host->done += numberAt(rank, "done");
        if (const std::size_t task = numberAt(rank, "task"))
            host->shards.push_back(task);
    }
    for (HostProgress &host : progress.hosts)
        std::ranges::sort(host.shards);
    return progress;
}

std::string reasonIn(std::string_view output)
{
    // Our own error is the best one. Else that of ssh, which names the host. Else Open MPI's, of which the first sentence between
    // two rules of dashes says it, but for those that only say that something has ended.
    std::string own;
    std::string shell;
    std::string theirs;
    bool isTheirs = false;
    bool isWhole = false;
    while (!output.empty()) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        const std::string_view line = trimmed(output.substr(0, end));
        output.remove_prefix(std::min(end + 1, output.size()));
        constexpr std::string_view kError = "error: ";
        if (line.starts_with(kError) && (own.empty() || own.find("see the error above") != std::string::npos))
            own = line.substr(kError.size());
        if (line.starts_with("ssh: ") && shell.empty())
            shell = line;
        if (line.starts_with("-----")) {
            isTheirs = !isTheirs;
            if (theirs.starts_with("Primary job") || theirs.starts_with("MPI_ABORT was invoked")) {
                theirs.clear();
                isWhole = false;
            }
            continue;
        }
        if (isTheirs && !isWhole)
            theirs += (theirs.empty() ? "" : " ") + std::string(line);
        isWhole = isWhole || (isTheirs && !theirs.empty() && (line.empty() || line.ends_with('.')));
    }
    return !own.empty() ? own : !shell.empty() ? shell : theirs;
}

} // namespace halftone::app
