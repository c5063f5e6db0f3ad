#include "core/hardware/catalogue.h"

#include "core/base/atomic_file.h"
#include "core/base/cpu_kind.h"
#include "core/base/mapped_file.h"
#include "core/base/resource.h"
#include "core/base/text.h"
#include "core/base/xxh64.h"
#include "core/hardware/description_json.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

namespace halftone::hardware {
namespace {

using Pointer = std::shared_ptr<const Description>;

constexpr std::array<std::string_view, 13> kNames{"amx",
                                                  "armv8.2-fp16",
                                                  "armv8.6-bf16-i8mm",
                                                  "avx2",
                                                  "avx512-bf16-vnni",
                                                  "conv16",
                                                  "int8-npu",
                                                  "sm_100",
                                                  "sm_70",
                                                  "sm_75",
                                                  "sm_80",
                                                  "sm_89",
                                                  "sm_90"};

Result<Pointer> readFile(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    auto description = readDescription(file->text());
    if (!description.ok())
        return inFile(std::move(description).error(), path);
    return std::make_shared<const Description>(std::move(description).value());
}

/// What was measured since the program started.
struct Kept
{
    std::mutex guard;
    std::optional<Measurement> measurement;
    bool isRead = false; ///< the file was looked for
};

Kept &kept()
{
    static Kept kOnly;
    return kOnly;
}

/// Of one kind of processor; empty where a person has no folder for such.
std::string measurementFile()
{
    const char *const cache = std::getenv("XDG_CACHE_HOME");
    const char *const home = std::getenv("HOME");
    std::string folder = cache != nullptr && *cache == '/' ? std::string(cache)
        : home != nullptr && *home == '/'                  ? std::string(home) + "/.cache"
                                                           : std::string();
    if (folder.empty())
        return folder;
    const std::string kind = cpuKind();
    Xxh64 hash;
    hash.add(std::as_bytes(std::span(kind)));
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash.value()));
    return folder + "/halftone/measured-" + text.data() + ".json";
}

Result<Pointer> findThis()
{
    if (thisMachine()) {
        auto measurement = keptMeasurement();
        if (!measurement)
            return thisMachine();
        auto measured = std::make_shared<Description>(*thisMachine());
        measured->measurement = std::move(measurement);
        return Pointer(std::move(measured));
    }
    return inField(unsupported("this", "the processor is none that is described"), Field::Hardware);
}

} // namespace

std::span<const Pointer> builtIn()
{
    static const std::vector<Pointer> kAll = [] {
        std::vector<Pointer> all;
        for (const std::string_view name : kNames) {
            auto read = readDescription(resource("hardware/" + std::string(name) + ".json"));
            assert(read.ok() && read.value().name == name);
            all.push_back(std::make_shared<const Description>(std::move(read).value()));
        }
        return all;
    }();
    return kAll;
}

const Pointer &thisMachine()
{
    static const Pointer kThis = describedBy(builtIn(), cpuFlags());
    return kThis;
}

Result<Pointer> findDescription(std::string_view nameOrFile)
{
    if (nameOrFile == "this")
        return findThis();
    if (nameOrFile.ends_with(".json") || nameOrFile.find('/') != std::string_view::npos)
        return readFile(std::string(nameOrFile));
    const auto all = builtIn();
    const auto at
        = std::ranges::find(all, nameOrFile, [](const Pointer &one) { return std::string_view(one->name); });
    if (at != all.end())
        return *at;
    std::vector<std::string_view> names(kNames.begin(), kNames.end());
    names.emplace_back("this");
    return badCall(Field::Hardware,
                   "unknown chip \"" + printable(nameOrFile, 60) + '"'
                       + didYouMean(nearestNames(nameOrFile, names)),
                   "a name that 'hardware' lists, \"this\" or a file NAME.json");
}

std::optional<Measurement> keptMeasurement()
{
    const std::lock_guard lock(kept().guard);
    if (std::exchange(kept().isRead, true) || kept().measurement)
        return kept().measurement;
    const std::string path = measurementFile();
    if (path.empty() || !std::filesystem::is_regular_file(path))
        return std::nullopt;
    const auto file = readFile(path);
    if (file.ok() && file.value()->measurement && file.value()->measurement->machine == cpuKind())
        kept().measurement = file.value()->measurement;
    return kept().measurement;
}

void keepMeasurement(Measurement measurement)
{
    const std::lock_guard lock(kept().guard);
    kept().measurement = std::move(measurement);
    const std::string path = measurementFile();
    if (path.empty())
        return;
    Description measured = *thisMachine();
    measured.measurement = kept().measurement;
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (!error)
        static_cast<void>(writeWhole(path, writeDescription(measured))); // measured again the next time
}

std::set<std::string, std::less<>> cpuFlags()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("flags") && !line.starts_with("Features"))
            continue;
        std::istringstream words(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
        std::set<std::string, std::less<>> flags;
        for (std::string word; words >> word;)
            flags.insert(std::move(word));
        return flags;
    }
    return {};
}

Pointer describedBy(std::span<const Pointer> descriptions, const std::set<std::string, std::less<>> &flags)
{
    const auto has = [&flags](const std::string &flag) { return flags.contains(flag); };
    Pointer best;
    for (const Pointer &one : descriptions) {
        const Detection &detect = one->detect;
        if (!detect.cpuFlags.empty() && std::ranges::all_of(detect.cpuFlags, has)
            && std::ranges::none_of(detect.without, has)
            && (!best || best->detect.cpuFlags.size() < detect.cpuFlags.size()))
            best = one;
    }
    return best;
}

} // namespace halftone::hardware
