#include "core/hardware/catalogue.h"

#include "core/base/cpu_kind.h"
#include "core/base/mapped_file.h"
#include "core/base/resource.h"
#include "core/base/text.h"
#include "core/hardware/description_json.h"
#include "core/hardware/kept_measurement.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

namespace halftone::hardware {
namespace {

using Pointer = std::shared_ptr<const Description>;

constexpr std::array<std::string_view, 14> kNames{"amx",
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
                                                  "sm_86",
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

/// The GPU that was told, and its description.
struct Told
{
    std::mutex guard;
    std::optional<GpuAtHand> gpu;
    Pointer description;
};

Told &told()
{
    static Told kOnly;
    return kOnly;
}

Result<Pointer> withMeasurement(const Pointer &atHand, const std::string &machine)
{
    auto measurement = keptMeasurement(machine);
    if (!measurement)
        return atHand;
    auto measured = std::make_shared<Description>(*atHand);
    measured->measurement = std::move(measurement);
    return Pointer(std::move(measured));
}

Result<Pointer> findThis()
{
    if (const Pointer &machine = thisMachine())
        return withMeasurement(machine, machineOf(kThis));
    return inField(unsupported(std::string(kThis), "no description matches this processor"), Field::Hardware);
}

Result<Pointer> findThisGpu()
{
    if (const Pointer gpu = thisGpu())
        return withMeasurement(gpu, machineOf(kThisGpu));
    const std::lock_guard lock(told().guard);
    return inField(
        unsupported(std::string(kThisGpu),
                    told().gpu ? "no description matches the GPU " + told().gpu->device + " ("
                            + told().gpu->architecture + ")"
                               : std::string("no usable GPU; run 'halftone-cli backends' for the reason")),
        Field::Hardware);
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
    static const Pointer kMachine = describedBy(builtIn(), cpuFlags());
    return kMachine;
}

void tellGpu(const GpuAtHand &gpu)
{
    Pointer description = boardOf(gpu.architecture, gpu.bandwidth);
    const std::lock_guard lock(told().guard);
    told().gpu = gpu;
    told().description = std::move(description);
}

Pointer thisGpu()
{
    const std::lock_guard lock(told().guard);
    return told().description;
}

std::string machineOf(std::string_view name)
{
    if (name == kThis)
        return thisMachine() ? cpuKind() : std::string();
    if (name != kThisGpu)
        return {};
    const std::lock_guard lock(told().guard);
    return told().description ? told().gpu->device : std::string();
}

Result<Pointer> findDescription(std::string_view nameOrFile)
{
    if (nameOrFile == kThis)
        return findThis();
    if (nameOrFile == kThisGpu)
        return findThisGpu();
    if (nameOrFile.ends_with(".json") || nameOrFile.find('/') != std::string_view::npos)
        return readFile(std::string(nameOrFile));
    const auto all = builtIn();
    const auto at
        = std::ranges::find(all, nameOrFile, [](const Pointer &one) { return std::string_view(one->name); });
    if (at != all.end())
        return *at;
    std::vector<std::string_view> names(kNames.begin(), kNames.end());
    names.insert(names.end(), {kThis, kThisGpu});
    return badCall(Field::Hardware,
                   "unknown chip \"" + printable(nameOrFile, 60) + '"'
                       + didYouMean(nearestNames(nameOrFile, names)),
                   "a name listed by 'hardware', \"this\", \"this-gpu\" or a file NAME.json");
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

Pointer describedBy(std::span<const Pointer> descriptions, std::string_view architecture)
{
    const auto isIt = [architecture](const Pointer &one) {
        std::string digits = one->detect.cuda; // "9.0" of sm_90
        std::erase(digits, '.');
        return !digits.empty() && architecture == "sm_" + digits;
    };
    const auto found = std::ranges::find_if(descriptions, isIt);
    return found == descriptions.end() ? nullptr : *found;
}

Pointer boardOf(std::string_view architecture, std::optional<double> bandwidth)
{
    Pointer known = describedBy(builtIn(), architecture);
    if (!known || !bandwidth)
        return known;
    auto own = std::make_shared<Description>(*known);
    own->bandwidth = bandwidth;
    return own;
}

} // namespace halftone::hardware
