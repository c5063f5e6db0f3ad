#include "core/machines/local_chips.h"

#include "core/hardware/catalogue.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace halftone::machines {
namespace {

/// The first backend on a GPU; nothing: there is none.
const std::optional<backends::BackendInfo> &gpuBackend()
{
    static const std::optional<backends::BackendInfo> kFound = []() -> std::optional<backends::BackendInfo> {
        const std::vector<backends::BackendInfo> all = backends::allBackends();
        const auto isGpu = [](const backends::BackendInfo &info) {
            return info.available && info.makesPlans && !info.architecture.empty();
        };
        const auto found = std::ranges::find_if(all, isGpu);
        if (found == all.end())
            return std::nullopt;
        hardware::tellGpu({found->device, found->architecture, found->bandwidth});
        return *found;
    }();
    return kFound;
}

} // namespace

std::shared_ptr<const hardware::Description> lookForGpu()
{
    return gpuBackend() ? hardware::thisGpu() : nullptr;
}

std::string availableBackend(std::string_view chip)
{
    if (chip == hardware::kThis)
        return std::string(backends::kDefaultBackend);
    return chip == hardware::kThisGpu && lookForGpu() ? gpuBackend()->name : std::string();
}

Result<std::shared_ptr<const hardware::Description>> findChip(std::string_view nameOrFile)
{
    if (nameOrFile == hardware::kThisGpu)
        lookForGpu();
    return hardware::findDescription(nameOrFile);
}

std::shared_ptr<const hardware::Description> chipOf(const backends::BackendInfo &backend)
{
    return hardware::boardOf(backend.architecture, backend.bandwidth);
}

} // namespace halftone::machines
