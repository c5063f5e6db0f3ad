#include "app/hosts/host_list.h"

#include "core/base/text.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

namespace halftone::app {
namespace {

constexpr std::int64_t kMostSlots = 4096;

std::optional<std::size_t> slotsIn(std::string_view text)
{
    const auto number = parseInteger(text);
    return number && *number >= 1 && *number <= kMostSlots ? std::optional(static_cast<std::size_t>(*number))
                                                           : std::nullopt;
}

std::vector<std::string_view> wordsOf(std::string_view line)
{
    constexpr std::string_view kSpaces = " \t\r";
    std::vector<std::string_view> words;
    for (std::size_t at = line.find_first_not_of(kSpaces); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kSpaces, end);
    }
    return words;
}

bool isName(std::string_view text)
{
    return !text.empty() && text[0] != '-' && std::ranges::all_of(text, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')
            || (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' || letter == '_'
            || letter == '@';
    });
}

/// Nothing for a line that is none.
std::optional<Host> hostIn(const std::vector<std::string_view> &words)
{
    const std::size_t colon = std::min(words[0].find(':'), words[0].size());
    Host host{std::string(words[0].substr(0, colon)), 1};
    bool isRight = isName(host.name);
    const auto take = [&](std::string_view number) {
        const auto slots = slotsIn(number);
        isRight = isRight && slots;
        host.slots = slots.value_or(1);
    };
    if (colon < words[0].size())
        take(words[0].substr(colon + 1));
    for (const std::string_view word : std::span(words).subspan(1)) {
        constexpr std::string_view kSlots = "slots=";
        // Open MPI's bound for jobs that take more than the slots; ours take them exactly.
        const bool isBound = word.starts_with("max_slots=") || word.starts_with("max-slots=");
        if (word.starts_with(kSlots))
            take(word.substr(kSlots.size()));
        else if (!isBound)
            isRight = false;
    }
    return isRight ? std::optional(host) : std::nullopt;
}

} // namespace

bool Host::isThisMachine() const
{
    constexpr std::size_t kLongest = 256;
    std::array<char, kLongest> own{};
    ::gethostname(own.data(), own.size() - 1);
    const std::string_view host(own.data());
    return name == "localhost" || name == "127.0.0.1" || name == host
        || name == host.substr(0, host.find('.'));
}

Result<std::vector<Host>> readHosts(std::string_view text, const std::string &file)
{
    std::vector<Host> hosts;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        line = line.substr(0, line.find('#'));
        const std::vector<std::string_view> words = wordsOf(line);
        if (words.empty())
            continue;
        const std::optional<Host> host = hostIn(words);
        if (!host) {
            Error error = badInput(
                "line " + std::to_string(number), '"' + printable(std::string(trimmed(line)), 60) + '"',
                "a host name, optionally followed by slots=8 to compute 8 shards in parallel");
            return file.empty() ? error : inFile(std::move(error), file);
        }
        const auto known = std::ranges::find_if(hosts, [&](const Host &one) {
            return one.name == host->name || (one.isThisMachine() && host->isThisMachine());
        });
        if (known == hosts.end())
            hosts.push_back(*host);
        else
            known->slots += host->slots;
    }
    if (hosts.empty()) {
        Error error = badInput("hosts", "the list is empty", "; enter one host per line");
        return file.empty() ? error : inFile(std::move(error), file);
    }
    return hosts;
}

Ranks ranksOn(const std::vector<Host> &hosts, bool isOneEach)
{
    Ranks ranks;
    std::string others;
    std::size_t own = 1; // rank 0
    for (const Host &host : hosts) {
        const std::size_t slots = isOneEach ? 1 : host.slots;
        ranks.count += slots;
        if (host.isThisMachine())
            own += slots;
        else
            others += host.name + " slots=" + std::to_string(slots) + '\n';
    }
    ++ranks.count;
    ranks.hostfile = "localhost slots=" + std::to_string(own) + '\n' + others;
    return ranks;
}

} // namespace halftone::app
