#include "core/quantize/pairs.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/quantize/pair_build.h"
#include "core/quantize/pair_operators.h"

#include <algorithm>

namespace halftone::quantize {
namespace {

std::vector<ObservedTensor> observedOf(const PairPlan &plan)
{
    std::vector<ObservedTensor> observed;
    for (const auto &[output, value] : plan.data)
        if (std::ranges::find(observed, value.name, &ObservedTensor::source) == observed.end())
            observed.push_back({value.name, value.name});
    return observed;
}

} // namespace

bool isInPairs(const graph::Graph &graph)
{
    return dialect::codedPairsOf(dialect::of(graph)) != nullptr;
}

Result<PlannedQuantization> planInPairs(const graph::Model &model, const QuantizeOptions &options)
{
    HALFTONE_TRY(const PairPlan plan, planPairs(model, constantsOf(model), options, nullptr));
    return PlannedQuantization{observedOf(plan), nullptr};
}

Result<QuantizedModel> quantizeInPairs(const graph::Model &model, const QuantizeOptions &options,
                                       const QuantizedRanges &ranges)
{
    const Constants constants = constantsOf(model);
    HALFTONE_TRY(const PairPlan plan, planPairs(model, constants, options, &ranges));
    graph::Model source = model;
    const dialect::Dialect &own = dialect::of(model.graph);
    if (!plan.data.empty()) {
        HALFTONE_TRY(const auto raised,
                     own.raised(model.graph, tensor::DType::F32, plan.forms->versionFor(options.perChannel)));
        if (raised)
            source.graph = raised->graph;
    }
    QuantizedModel result = buildPairs(source, constants, plan, options, ranges);
    if (options.asOperators)
        toOperators(result, *plan.forms);
    if (!plan.missing.empty())
        result.notes.push_back("not in int8 for lack of a calibrated range: " + joined(plan.missing));
    if (source.graph.dialect() != &own)
        result.notes.push_back(std::string(own.version()) + " raised to "
                               + std::string(dialect::of(source.graph).version()) + ": int8 needs it");
    return result;
}

} // namespace halftone::quantize
