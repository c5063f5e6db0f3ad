#include "core/mixed/convert_typed.h"

#include "core/base/progress_part.h"
#include "core/dialect/dialect.h"
#include "core/dialect/overridable.h"
#include "core/mixed/cut_casts.h"
#include "core/mixed/held_constants.h"
#include "core/mixed/hold/held_bounds.h"
#include "core/mixed/mark_parameters.h"
#include "core/mixed/read_counts.h"
#include "core/mixed/sequences.h"
#include "core/mixed/typed_builder.h"
#include "core/mixed/typed_level.h"

#include <algorithm>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;

/// Which variables and constants may change their type when all their readers want the target type. Variables of bodies are what is handed in.
std::vector<bool> storableIn(const TypedLevel &level, const TypedSettings &settings)
{
    const graph::Graph &source = *level.graph;
    std::vector<bool> storable(source.nodeCount(), false);
    for (const NodeId id : level.plan.order) {
        if (level.constants[id])
            storable[id] = settings.castConstants && level.assignment->requested(id) != policy::Request::Fp32;
        if (!source.isVariable(id) || level.depth > settings.depth
            || level.assignment->rule(id) == policy::Rule::ExcludedName)
            continue;
        const DType type = level.plan.native[level.plan.firstOutput[id]];
        // TVM's pass leaves inputs as they are.
        const bool mayComeLow = !settings.keepIoTypes && settings.mode != policy::Mode::Tvm;
        // Whoever runs the model may feed other values, of the type that is there.
        const bool isKept = settings.keepIoTypes && dialect::isOverridable(source, id);
        storable[id] = level.variables[id].isData
            ? mayComeLow && type == DType::F32
            : settings.castParams && rewrite::isCastable(type) && !isKept;
    }
    return storable;
}

/// The type of every variable and storable constant in the converted graph.
std::vector<DType> storedTypes(const graph::Graph &source, const TypedPlan &plan, const ReadCounts &counts,
                               const std::vector<bool> &storable, DType target)
{
    std::vector<DType> stored(source.nodeCount(), DType::Unknown);
    for (const NodeId id : plan.order) {
        if (!source.isVariable(id) && !storable[id])
            continue;
        const std::uint32_t output = plan.firstOutput[id];
        const bool narrows = storable[id] && counts[output].target > 0 && counts[output].fp32 == 0
            && counts[output].other == 0;
        stored[id] = narrows ? target : plan.native[output];
    }
    return stored;
}

/// Of constants that stay float32, for castConstants().
std::vector<DType> narrowedConstants(const TypedLevel &level, const ReadCounts &counts, DType target,
                                     std::span<const rewrite::ConvertedBody> bodies)
{
    std::vector<DType> narrowed(level.graph->nodeCount(), DType::Unknown);
    for (const NodeId id : level.plan.order)
        if (level.constants[id] && counts[level.plan.firstOutput[id]].target > 0)
            narrowed[id] = target;
    addNarrowedInBodies(*level.graph, bodies, narrowed);
    return narrowed;
}

/// Modes but typed say of each operator what it computes in; what bodies are handed in and give is chosen all the same.
CastContext contextOf(const TypedSettings &settings)
{
    return {settings.target, settings.clock, settings.mode == policy::Mode::Typed};
}

Result<void> decideAndCut(TypedLevel &root, const TypedSettings &settings, const Progress &progress,
                          bool cuts)
{
    HALFTONE_CHECK(decideLevels(root, settings, progress));
    forLevels(root, [&settings](TypedLevel &level) { level.storable = storableIn(level, settings); });
    if (cuts)
        cutCasts(root, contextOf(settings));
    return {};
}

bool castsListSomewhere(const TypedLevel &root)
{
    bool casts = false;
    forLevels(root, [&casts](const TypedLevel &level) {
        casts = casts || castsSequence(*level.graph, level.plan);
    });
    return casts;
}

/// Where a list would be cast, all that has to do with lists keeps its types.
/// cuts  with what is chosen for the fewest casts
Result<TypedLevel> settle(const graph::Graph &source, const policy::Assignment &assignment,
                          std::span<const infer::Variable> variables, const TypedSettings &settings,
                          const Progress &progress, bool cuts)
{
    HALFTONE_TRY(TypedLevel root, makeLevels(source, assignment, variables, settings));
    HALFTONE_CHECK(decideAndCut(root, settings, partOf(progress, 0, 0.5), cuts));
    if (castsListSomewhere(root)) {
        forLevels(root, [](TypedLevel &level) { level.kept = sequenceNodes(*level.graph); });
        HALFTONE_CHECK(decideAndCut(root, settings, partOf(progress, 0.5, 0.5), cuts));
    }
    return root;
}

std::uint32_t indexOf(const graph::Graph &source, NodeId node, const infer::BoundBody &body)
{
    const auto &subgraphs = source.node(node).subgraphs;
    const auto at
        = std::ranges::find(subgraphs, body.graph, [](const auto &subgraph) { return subgraph.get(); });
    return static_cast<std::uint32_t>(at - subgraphs.begin());
}

Result<rewrite::Conversion> build(TypedLevel &level, const TypedSettings &settings);

/// The nodes of control flow with their new bodies.
Result<NewBodies> buildBodies(TypedLevel &level, const TypedSettings &settings,
                              std::vector<rewrite::ConvertedBody> &log)
{
    NewBodies definitions;
    for (TypedFlow &flow : level.flows) {
        auto def = std::make_shared<graph::NodeDef>(level.graph->node(flow.node));
        for (std::size_t b = 0; b < flow.bodies.size(); ++b) {
            const std::uint32_t index = indexOf(*level.graph, flow.node, flow.binding.bodies[b]);
            HALFTONE_TRY(rewrite::Conversion body, build(flow.bodies[b], settings));
            def->subgraphs[index] = std::make_shared<const graph::Graph>(body.graph);
            log.push_back({flow.node, index, std::move(body)});
        }
        definitions.emplace(flow.node, std::move(def));
    }
    return definitions;
}

/// Which nodes read the target type or give it.
std::vector<bool> loweredIn(const TypedLevel &level, DType target)
{
    const TypedPlan &plan = level.plan;
    std::vector<bool> lowered(level.graph->nodeCount(), false);
    for (const NodeId id : plan.order) {
        const auto inputs = level.graph->inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DType read = plan.reads[plan.firstInput[id] + i];
            if (read == target || (read == DType::Unknown && plan.nativeOf(inputs[i]) == target))
                lowered[id] = true;
        }
        for (std::uint32_t k = 0; k < level.rules.outputCount(id); ++k)
            if (plan.native[plan.firstOutput[id] + k] == target)
                lowered[id] = true;
    }
    return lowered;
}

/// The graph that the level describes, and those in it.
Result<rewrite::Conversion> build(TypedLevel &level, const TypedSettings &settings)
{
    const graph::Graph &source = *level.graph;
    const TypedPlan &plan = level.plan;
    std::vector<rewrite::ConvertedBody> bodies;
    HALFTONE_TRY(NewBodies definitions, buildBodies(level, settings, bodies));
    const ReadCounts counts(source, plan, settings.target);
    const std::vector<DType> stored = storedTypes(source, plan, counts, level.storable, settings.target);
    const std::vector<DType> narrowed = narrowedConstants(level, counts, settings.target, bodies);
    HALFTONE_TRY(ConstantForms constants,
                 castConstants(source, plan, stored, narrowed, settings.clamps, settings.forms));
    definitions.merge(constants.definitions);
    rewrite::Conversion conversion
        = TypedBuilder(source, level.rules, plan, level.variables, stored, definitions).build();
    conversion.parameters = std::move(constants.stored);
    conversion.bodies = std::move(bodies);
    // A body's types come from around it.
    if (level.depth == 0 && dialect::of(source).infersParameterTypes())
        markOpenParameters(source, level.variables, conversion);
    for (const NodeId id : plan.order) {
        const DType original = plan.original[plan.firstOutput[id]];
        if (source.isVariable(id) && stored[id] != original)
            conversion.parameters.push_back({id, original, stored[id]});
    }
    return conversion;
}

} // namespace

Result<rewrite::Conversion> convertTyped(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const TypedSettings &settings, const Progress &progress)
{
    HALFTONE_TRY(TypedLevel root, settle(source, assignment, variables, settings, progress, true));
    return build(root, settings);
}

Result<std::unordered_map<const graph::Graph *, std::vector<bool>>>
typedLowered(const graph::Graph &source, const policy::Assignment &assignment,
             std::span<const infer::Variable> variables, const TypedSettings &settings,
             const Progress &progress)
{
    HALFTONE_TRY(const TypedLevel root, settle(source, assignment, variables, settings, progress, true));
    std::unordered_map<const graph::Graph *, std::vector<bool>> lowered;
    forLevels(root, [&](const TypedLevel &level) {
        lowered.emplace(level.graph, loweredIn(level, settings.target));
    });
    return lowered;
}

Result<CastProblem> typedChoices(const graph::Graph &source, const policy::Assignment &assignment,
                                 std::span<const infer::Variable> variables, const TypedSettings &settings,
                                 const Progress &progress)
{
    HALFTONE_TRY(const TypedLevel root, settle(source, assignment, variables, settings, progress, false));
    return castProblem(root, contextOf(settings));
}

} // namespace halftone::mixed
