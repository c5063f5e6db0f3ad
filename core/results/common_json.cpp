#include "core/results/common_json.h"

#include "core/report/json_values.h"

namespace halftone::results {

OrderedJson warningsJson(std::span<const policy::Warning> warnings)
{
    OrderedJson list = OrderedJson::array();
    for (const policy::Warning &warning : warnings) {
        list.push_back({{"entry", warning.entry}, {"text", warning.text}});
        if (!warning.code.empty())
            list.back()["code"] = warning.code;
    }
    return list;
}

OrderedJson taskJson(const std::optional<tasks::TaskScore> &task)
{
    if (!task)
        return {};
    return {{"metric", tasks::nameOf(task->metric)},
            {"guessed", task->isGuessed},
            {"fp32", report::numberOrNull(task->reference)},
            {"mixed", report::numberOrNull(task->other)},
            {"ratio", report::numberOrNull(task->ratio())},
            {"agree", report::numberOrNull(task->agreement)},
            {"examples", task->examples},
            {"peak", report::numberOrNull(task->peak)}};
}

} // namespace halftone::results
