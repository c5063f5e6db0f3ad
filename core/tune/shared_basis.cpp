#include "core/tune/shared_basis.h"

#include "core/base/json.h"
#include "core/policy/policy_json.h"

#include <array>
#include <cstdio>

namespace halftone::tune {
namespace {

std::string hexadecimal(std::uint64_t number)
{
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

} // namespace

Result<jobs::StatisticsOrigin> originOf(const TuneTask &task)
{
    const OrderedJson settings{{"command", "tune"},
                               {"backend", task.compare.backend},
                               {"threads", task.latency.threads},
                               {"policy", policy::writePolicy(*task.policy)},
                               {"int8", task.hasInt8}};
    return jobs::originOf(task.source->model, task.source->modelPath, task.compare.examples,
                          settings.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
}

std::string basisOf(const jobs::StatisticsOrigin &origin)
{
    return "model " + hexadecimal(origin.modelHash) + "; data " + hexadecimal(origin.dataHash) + "; "
        + origin.settings + "; " + origin.cpu;
}

} // namespace halftone::tune
