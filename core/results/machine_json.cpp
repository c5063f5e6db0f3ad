#include "core/results/machine_json.h"

#include "core/hardware/catalogue.h"
#include "core/hardware/description_json.h"
#include "core/machines/local_chips.h"

#include <algorithm>

namespace halftone::results {

Chips listedChips()
{
    const hardware::Description &machine = *hardware::thisMachine();
    const auto gpu = machines::lookForGpu();
    Chips chips{{hardware::builtIn().begin(), hardware::builtIn().end()}, machine.name, gpu ? gpu->name : ""};
    const auto isListed = [&chips](const std::string &name) {
        return std::ranges::any_of(chips.all, [&name](const auto &chip) { return chip->name == name; });
    };
    if (gpu && !isListed(gpu->name))
        chips.all.insert(chips.all.begin(), gpu);
    if (!isListed(machine.name))
        chips.all.insert(chips.all.begin(), std::make_shared<const hardware::Description>(machine));
    return chips;
}

OrderedJson hardwareJson(const Chips &chips)
{
    OrderedJson all = OrderedJson::array();
    for (const auto &chip : chips.all)
        all.push_back(parseOrdered(hardware::writeDescription(*chip)));
    return {{"this", chips.machine},
            {"this_gpu", chips.gpu.empty() ? OrderedJson() : OrderedJson(chips.gpu)},
            {"hardware", std::move(all)}};
}

std::vector<std::string> variantsOf(const backends::BackendInfo &info)
{
    if (!info.available)
        return {};
    auto variants = backends::providersOf(info.name);
    return variants.ok() ? std::move(variants).value() : std::vector<std::string>();
}

OrderedJson backendsJson(std::string_view version)
{
    const auto orNull
        = [](const std::string &text) { return text.empty() ? OrderedJson() : OrderedJson(text); };
    OrderedJson backends = OrderedJson::array();
    for (const backends::BackendInfo &info : backends::allBackends()) {
        OrderedJson dtypes = OrderedJson::object();
        for (const auto &[type, support] : info.dtypes)
            dtypes[std::string(tensor::nameOf(type))] = kernels::nameOf(support);
        backends.push_back({{"name", info.name},
                            {"available", info.available},
                            {"device", info.device},
                            {"dtypes", std::move(dtypes)},
                            {"why", info.why}});
        if (info.wholeModels)
            backends.back().update({{"version", orNull(info.version)},
                                    {"file", orNull(info.file)},
                                    {"providers", variantsOf(info)}});
    }
    return {{"version", version}, {"backends", std::move(backends)}};
}

} // namespace halftone::results
