#include "core/backends/backends.h"

#include "core/backends/backend_entry.h"
#include "core/backends/narrow_sums.h"
#include "core/backends/reference/reference_backend.h"
#include "core/backends/runtime_arithmetic.h"
#include "core/base/share_work.h"
#include "core/dialect/arithmetic.h"
#include "core/dialect/registry.h"
#ifdef HALFTONE_HAS_CUDA
#include "core/backends/cuda/backend.h"
#endif
#ifdef HALFTONE_HAS_ONEDNN
#include "core/backends/onednn/backend.h"
#endif

#include <algorithm>
#include <array>

namespace halftone::backends {
namespace {

using tensor::DType;

/// The devices of this build, the default first.
std::vector<BackendEntry> builtIn()
{
    std::vector<BackendEntry> known{
#ifdef HALFTONE_HAS_ONEDNN
        onednn::backendEntry(kDefaultBackend),
#else
        reference::backendEntry(kDefaultBackend,
                                "computed by the reference backend: this build has no oneDNN"),
#endif
        reference::backendEntry(
            "reference",
            "every operator by its definition, in float32 or double; meant for comparison, "
            "not for speed"),
    };
#ifdef HALFTONE_HAS_CUDA
    for (BackendEntry &entry : cuda::backendEntries("cuda"))
        known.push_back(std::move(entry));
#else
    known.push_back({.name = "cuda", .device = {}, .why = "not in this build", .make = {}});
#endif
    return known;
}

std::vector<std::vector<BackendEntry> (*)()> &makers()
{
    static std::vector<std::vector<BackendEntry> (*)()> all;
    return all;
}

std::vector<BackendEntry> allEntries()
{
    std::vector<BackendEntry> known = builtIn();
    for (const auto make : makers())
        for (BackendEntry &entry : make())
            known.push_back(std::move(entry));
    return known;
}

bool &isMade()
{
    static bool made = false;
    return made;
}

std::vector<BackendEntry> &entries()
{
    static std::vector<BackendEntry> known = allEntries();
    isMade() = true;
    return known;
}

/// "ort:CUDAExecutionProvider" as its two parts.
std::pair<std::string_view, std::string_view> nameAndVariant(std::string_view name)
{
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? std::pair(name, std::string_view())
                                           : std::pair(name.substr(0, colon), name.substr(colon + 1));
}

/// What computes the operators that a device does not.
std::shared_ptr<const kernels::Backend> fallback(unsigned threads)
{
    return reference::referenceBackend({threadsFor(threads), false});
}

BackendInfo describe(const BackendEntry &entry)
{
    BackendInfo info{entry.name,
                     entry.device,
                     static_cast<bool>(entry.make),
                     entry.makesPlans,
                     {},
                     entry.why,
                     entry.architecture,
                     entry.bandwidth,
                     entry.wholeModels,
                     entry.version,
                     entry.file};
    if (!entry.make)
        return info;
    const auto backend = entry.make({1, true, fallback(1)});
    for (const DType type : {DType::F32, DType::BF16, DType::F16, DType::I8, DType::U8, DType::F64})
        info.dtypes.emplace_back(type, backend->support(type));
    return info;
}

/// "a, b or c", the default marked as `mark` says.
template <class Wanted>
std::string namesOf(std::string_view mark, const Wanted &isWanted)
{
    std::vector<std::string> names;
    for (const BackendEntry &entry : backendTable())
        if (isWanted(entry))
            names.push_back(entry.name + (entry.name == kDefaultBackend ? std::string(mark) : std::string()));
    std::string text;
    for (std::size_t k = 0; k < names.size(); ++k)
        text += (k == 0 ? "" : k + 1 == names.size() ? " or " : ", ") + names[k];
    return text;
}

bool isAny(const BackendEntry &)
{
    return true;
}

bool makesPlans(const BackendEntry &entry)
{
    return entry.makesPlans;
}

Result<const BackendEntry *> entryOf(std::string_view name)
{
    auto found = std::ranges::find(backendTable(), name, &BackendEntry::name);
    if (const auto [bare, variant] = nameAndVariant(name); found == backendTable().end() && !variant.empty())
        found = std::ranges::find_if(backendTable(), [bare = bare](const BackendEntry &entry) {
            return entry.name == bare && entry.providers;
        });
    if (found == backendTable().end())
        return badCall(Field::Backend, '"' + std::string(name) + '"', namesOf("", isAny));
    if (!found->make)
        return unsupported(Field::Backend, found->name + ": " + found->why);
    return &*found;
}

/// The format whose runtime computes otherwise than its operators say; null: none of this build.
const dialect::Dialect *formatOfRuntime()
{
    const auto all = dialect::allDialects();
    const auto found
        = std::ranges::find_if(all, [](const dialect::Dialect *one) { return one->arithmetic() != nullptr; });
    return found == all.end() ? nullptr : *found;
}

} // namespace

const std::vector<BackendEntry> &backendTable()
{
    return entries();
}

bool addBackends(std::vector<BackendEntry> (*make)())
{
    makers().push_back(make);
    for (BackendEntry &entry : isMade() ? make() : std::vector<BackendEntry>())
        addBackend(std::move(entry));
    return true;
}

bool addBackend(BackendEntry entry)
{
    const bool isNew = std::ranges::find(entries(), entry.name, &BackendEntry::name) == entries().end();
    if (isNew)
        entries().push_back(std::move(entry));
    return isNew;
}

kernels::Support BackendInfo::support(DType type) const
{
    const auto told = std::ranges::find(dtypes, type, &std::pair<DType, kernels::Support>::first);
    return told == dtypes.end() ? kernels::Support::No : told->second;
}

std::vector<BackendInfo> allBackends()
{
    std::vector<BackendInfo> all;
    for (const BackendEntry &entry : backendTable())
        all.push_back(describe(entry));
    return all;
}

std::string backendNames()
{
    return namesOf(" (default)", isAny);
}

std::string planningBackendNames()
{
    return namesOf(" (default)", makesPlans);
}

std::span<const Arithmetic> allArithmetics()
{
    static constexpr std::array kAll{Arithmetic::Defined, Arithmetic::Runtime};
    return std::span(kAll).first(formatOfRuntime() != nullptr ? 2 : 1);
}

std::string_view nameOf(Arithmetic arithmetic)
{
    const dialect::Dialect *const format = formatOfRuntime();
    return arithmetic == Arithmetic::Runtime && format != nullptr ? format->name() : "defined";
}

std::string meaningOf(Arithmetic arithmetic)
{
    const dialect::Dialect *const format = formatOfRuntime();
    return arithmetic == Arithmetic::Runtime && format != nullptr
        ? "as " + std::string(format->arithmetic()->title())
        : "as the operators are defined";
}

Result<kernels::BackendChain> backendChain(std::string_view name, unsigned threads, Arithmetic arithmetic,
                                           DType accumulator)
{
    HALFTONE_TRY(const BackendEntry *const entry, entryOf(name));
    if (entry->wholeModels)
        return unsupported(Field::Backend, entry->name + " runs whole models, not single operators");
    const auto reference = fallback(threads);
    kernels::BackendChain chain{entry->make({threadsFor(threads), false, reference})};
    if (!entry->isComplete)
        chain.push_back(reference);
    if (const auto *const format = formatOfRuntime(); arithmetic == Arithmetic::Runtime && format != nullptr)
        chain.insert(chain.begin(), runtimeArithmetic(*format->arithmetic(), chain));
    if (tensor::isHalf(accumulator))
        chain.insert(chain.begin(), narrowSums(accumulator, threadsFor(threads)));
    return chain;
}

Result<std::shared_ptr<const kernels::Backend>> planningBackend(std::string_view name, unsigned threads,
                                                                DType precision)
{
    HALFTONE_TRY(const BackendEntry *const entry, entryOf(name));
    if (!entry->makesPlans)
        return unsupported(Field::Backend,
                           entry->name + " does not support latency measurements: " + entry->why,
                           namesOf("", makesPlans));
    if (precision != DType::Unknown && !entry->takesPrecision)
        return badCall(Field::Backend, entry->name + " computes in the types of the model",
                       "; a precision is set for a runtime that chooses one itself");
    const bool isVariant = entry->name != name;
    return entry->make({threadsFor(threads), true, fallback(threads),
                        std::string(isVariant ? nameAndVariant(name).second : ""), precision});
}

Result<std::vector<std::string>> providersOf(std::string_view name)
{
    HALFTONE_TRY(const BackendEntry *const entry, entryOf(name));
    return entry->providers ? entry->providers() : std::vector<std::string>();
}

std::string planningBackendFor(std::string_view name)
{
    const auto entry = entryOf(name);
    return std::string(entry.ok() && entry.value()->makesPlans ? name : kDefaultBackend);
}

Result<BackendInfo> backendInfo(std::string_view name)
{
    HALFTONE_TRY(const BackendEntry *const entry, entryOf(name));
    return describe(*entry);
}

} // namespace halftone::backends
