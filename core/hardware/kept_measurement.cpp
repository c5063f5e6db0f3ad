#include "core/hardware/kept_measurement.h"

#include "core/base/atomic_file.h"
#include "core/base/hex.h"
#include "core/base/mapped_file.h"
#include "core/base/xxh64.h"
#include "core/hardware/description_json.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <span>
#include <unordered_map>

namespace halftone::hardware {
namespace {

/// By machine, what was measured since the program started or stood in a file; nothing: there was no file.
struct Kept
{
    std::mutex guard;
    std::unordered_map<std::string, std::optional<Measurement>> byMachine;
};

Kept &kept()
{
    static Kept kOnly;
    return kOnly;
}

/// Of one machine; empty where a person has no folder for such.
std::string fileOf(const std::string &machine)
{
    const char *const cache = std::getenv("XDG_CACHE_HOME");
    const char *const home = std::getenv("HOME");
    std::string folder = cache != nullptr && *cache == '/' ? std::string(cache)
        : home != nullptr && *home == '/'                  ? std::string(home) + "/.cache"
                                                           : std::string();
    if (folder.empty())
        return folder;
    Xxh64 hash;
    hash.add(std::as_bytes(std::span(machine)));
    return folder + "/halftone/measured-" + hexDigits(hash.value()) + ".json";
}

std::optional<Measurement> inFile(const std::string &machine)
{
    const std::string path = fileOf(machine);
    if (path.empty() || !std::filesystem::is_regular_file(path))
        return std::nullopt;
    const auto file = MappedFile::open(path);
    if (!file.ok())
        return std::nullopt;
    auto found = readDescription(file.value()->text());
    if (!found.ok() || !found.value().measurement || found.value().measurement->machine != machine)
        return std::nullopt;
    return std::move(found.value().measurement);
}

} // namespace

std::optional<Measurement> keptMeasurement(const std::string &machine)
{
    if (machine.empty())
        return std::nullopt;
    const std::lock_guard lock(kept().guard);
    const auto [found, isNew] = kept().byMachine.try_emplace(machine);
    if (isNew)
        found->second = inFile(machine);
    return found->second;
}

void keepMeasurement(const Description &chip, const Measurement &measurement)
{
    const std::lock_guard lock(kept().guard);
    kept().byMachine[measurement.machine] = measurement;
    const std::string path = fileOf(measurement.machine);
    if (path.empty())
        return;
    Description measured = chip;
    measured.measurement = measurement;
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (!error)
        static_cast<void>(writeWhole(path, writeDescription(measured))); // measured again the next time
}

} // namespace halftone::hardware
