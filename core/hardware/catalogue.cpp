#include "core/hardware/catalogue.h"

#include "core/base/cpu_kind.h"
#include "core/base/mapped_file.h"
#include "core/base/resource.h"
#include "core/base/text.h"
#include "core/hardware/description_json.h"
#include "core/hardware/kept_measurement.h"
#include "core/hardware/processor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <mutex>
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

/// With what was measured on this machine, which also decides what the processor's units are good for.
Pointer measuredMachine()
{
    const auto measurement = keptMeasurement(machineOf(kThis));
    return measurement ? std::make_shared<const Description>(decidedBy(*thisMachine(), *measurement))
                       : thisMachine();
}

Result<Pointer> measuredGpu()
{
    const Pointer gpu = thisGpu();
    if (!gpu) {
        const std::lock_guard lock(told().guard);
        return inField(
            unsupported(std::string(kThisGpu),
                        told().gpu
                            ? "the GPU " + told().gpu->device + " reports no compute capability"
                            : std::string("no usable GPU; run 'halftone-cli backends' for the reason")),
            Field::Hardware);
    }
    auto measurement = keptMeasurement(machineOf(kThisGpu));
    if (!measurement)
        return gpu;
    auto measured = std::make_shared<Description>(*gpu);
    measured->measurement = std::move(measurement);
    return Pointer(std::move(measured));
}

/// 90 of "sm_90" and "sm_90a"; nothing: no such name.
std::optional<int> capabilityOf(std::string_view architecture)
{
    constexpr std::string_view kPrefix = "sm_";
    if (!architecture.starts_with(kPrefix))
        return std::nullopt;
    architecture.remove_prefix(kPrefix.size());
    int capability = 0;
    const auto read
        = std::from_chars(architecture.data(), architecture.data() + architecture.size(), capability);
    return read.ec == std::errc() && capability >= 10 ? std::optional(capability) : std::nullopt;
}

/// Of a description of a GPU; nothing for others.
std::optional<int> capabilityOf(const Description &chip)
{
    std::string digits = chip.detect.cuda; // "9.0"
    std::erase(digits, '.');
    return capabilityOf("sm_" + digits);
}

/// "8.7" of 87
std::string versionText(int capability)
{
    return std::to_string(capability / 10) + '.' + std::to_string(capability % 10);
}

/// A GPU that is older than all that are described: float32 arithmetic, narrow types are only stored.
Description oldGpu()
{
    Description gpu;
    gpu.kind = "gpu";
    gpu.standaloneCast = "one pass over memory";
    for (const Unit unit : kAllUnits) {
        auto &row = gpu.abilities[static_cast<std::size_t>(unit)];
        for (const Number number : {Number::Fp16, Number::Bf16})
            row[static_cast<std::size_t>(number)]
                = {Support::Storage, unit == Unit::Movement ? 2.0 : 1.0, {tensor::DType::F32}};
        row[static_cast<std::size_t>(Number::Fp32)] = {Support::Native, 1, {tensor::DType::F32}};
        row[static_cast<std::size_t>(Number::Int8)]
            = {Support::Emulated, 1, {isProduct(unit) ? tensor::DType::I32 : tensor::DType::F32}};
    }
    gpu.sources = {{"float32 arithmetic, and conversions of float16", "NVIDIA CUDA C++ Programming Guide"}};
    return gpu;
}

/// A GPU that has no description of its own, by that of the nearest older one; null: there is none.
Description nearestTo(int capability, const Pointer &older)
{
    Description gpu = older ? *older : oldGpu();
    const std::string version = versionText(capability);
    gpu.note = older
        ? "No description covers compute capability " + version
            + ": support and rates are those of the nearest one below, " + older->detect.cuda + ", "
            + older->title
        : "Compute capability " + version + " is older than all described ones: only float32 counts as fast";
    gpu.name = "sm_" + std::to_string(capability);
    gpu.title = "NVIDIA GPU of compute capability " + version;
    gpu.detect = {{}, {}, version};
    gpu.gigaflops.reset();
    gpu.bandwidth.reset();
    return gpu;
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
    static const Pointer kMachine
        = std::make_shared<const Description>(describe(processorAtHand(), builtIn()));
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
        return cpuKind();
    if (name != kThisGpu)
        return {};
    const std::lock_guard lock(told().guard);
    return told().description ? told().gpu->device : std::string();
}

Result<Pointer> findDescription(std::string_view nameOrFile)
{
    if (nameOrFile == kThis)
        return measuredMachine();
    if (nameOrFile == kThisGpu)
        return measuredGpu();
    if (nameOrFile.ends_with(".json") || nameOrFile.find('/') != std::string_view::npos)
        return readFile(std::string(nameOrFile));
    const auto all = builtIn();
    const auto at
        = std::ranges::find(all, nameOrFile, [](const Pointer &one) { return std::string_view(one->name); });
    if (at != all.end())
        return *at;
    if (nameOrFile == thisMachine()->name)
        return measuredMachine();
    std::vector<std::string_view> names(kNames.begin(), kNames.end());
    names.insert(names.end(), {kThis, kThisGpu});
    return badCall(Field::Hardware,
                   "unknown chip \"" + printable(nameOrFile, 60) + '"'
                       + didYouMean(nearestNames(nameOrFile, names)),
                   "a name listed by 'hardware', \"this\", \"this-gpu\" or a file NAME.json");
}

Pointer describedBy(std::span<const Pointer> descriptions, std::string_view architecture)
{
    const auto capability = capabilityOf(architecture);
    if (!capability)
        return nullptr;
    Pointer nearest;
    for (const Pointer &one : descriptions) {
        const auto its = capabilityOf(*one);
        if (its && *its <= *capability && (!nearest || *capabilityOf(*nearest) < *its))
            nearest = one;
    }
    return nearest && *capabilityOf(*nearest) == *capability
        ? nearest
        : std::make_shared<const Description>(nearestTo(*capability, nearest));
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
