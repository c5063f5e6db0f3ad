#include "core/report/runtime_types.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/report/as_asked.h"

#include <algorithm>

namespace halftone::report {
namespace {

/// "ONNX Runtime 1.22.0 runs it in float32 (MLAS f32)"
std::string reasonOf(const kernels::PlanStep &step, const kernels::RuntimeFacts &runtime)
{
    const std::string words = step.told.empty() ? step.kernel : step.told;
    return runtime.name + ' ' + runtime.version + " on " + runtime.device + " runs it in "
        + std::string(tensor::nameOf(step.dtype)) + (words.empty() ? "" : " (" + words + ')');
}

} // namespace

void addRuntimeTypes(mixed::TypeCensus &census, const graph::Graph &graph, const kernels::LatencyPlan &plan,
                     const std::string &backend)
{
    const kernels::RuntimeFacts runtime = plan.runtime().value_or(kernels::RuntimeFacts());
    const graph::NodesByName ids = graph::operatorsByName(graph);
    std::vector<mixed::TypeDifference> found;
    for (const kernels::PlanStep &step : plan.steps()) {
        if (askedOf(step) == tensor::DType::Unknown)
            continue;
        for (const std::string &name : step.nodes) {
            const auto id = ids.find(name);
            if (id == ids.end() || dialect::isCast(dialect::roleOf(graph, id->second)))
                continue;
            ++census.asked;
            census.computes[id->second] = step.dtype;
            if (!ranAsAsked(step))
                found.push_back({id->second, name, graph.node(id->second).op, askedOf(step), step.dtype,
                                 backend, reasonOf(step, runtime)});
        }
    }
    std::ranges::sort(found, {}, &mixed::TypeDifference::node);
    census.differences.insert(census.differences.end(), found.begin(), found.end());
}

} // namespace halftone::report
