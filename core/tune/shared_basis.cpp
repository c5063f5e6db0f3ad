#include "core/tune/shared_basis.h"

#include "core/base/hex.h"
#include "core/base/json.h"
#include "core/policy/policy_json.h"

namespace halftone::tune {

Result<shards::StatisticsOrigin> originOf(const TuneTask &task)
{
    const OrderedJson settings{{"command", "tune"},
                               {"backend", task.compare.backend},
                               {"threads", task.latency.threads},
                               {"policy", policy::writePolicy(*task.policy)},
                               {"int8", task.hasInt8}};
    return shards::originOf(task.source->model, task.source->modelPath, task.compare.examples,
                            jsonText(settings));
}

std::string basisOf(const shards::StatisticsOrigin &origin)
{
    return "model " + hexDigits(origin.modelHash) + "; data " + hexDigits(origin.dataHash) + "; "
        + origin.settings + "; " + origin.cpu;
}

} // namespace halftone::tune
