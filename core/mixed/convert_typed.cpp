#include "core/mixed/convert_typed.h"

#include "core/mixed/convert_bodies.h"
#include "core/mixed/mark_parameters.h"
#include "core/mixed/move_casts.h"
#include "core/mixed/read_counts.h"
#include "core/mixed/typed_builder.h"

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;

/// Which variables may change their type when all their readers want the target type.
std::vector<bool> storableVariables(const graph::Graph &source, const policy::Assignment &assignment,
                                    std::span<const infer::Variable> variables, const TypedPlan &plan,
                                    const TypedSettings &settings)
{
    std::vector<bool> storable(source.nodeCount(), false);
    for (const NodeId id : plan.order) {
        if (!source.isVariable(id) || assignment.rule(id) == policy::Rule::ExcludedName)
            continue;
        const DType type = plan.native[plan.firstOutput[id]];
        // TVM's pass leaves inputs as they are.
        const bool mayComeLow = !settings.keepIoTypes && settings.mode != policy::Mode::Tvm;
        storable[id] = variables[id].isData ? mayComeLow && type == DType::F32
                                            : settings.castParams && rewrite::isCastable(type);
    }
    return storable;
}

/// The type of every variable in the converted graph.
std::vector<DType> storedTypes(const graph::Graph &source, const TypedPlan &plan,
                               const std::vector<bool> &storable, DType target)
{
    const ReadCounts counts(source, plan, target);
    std::vector<DType> stored(source.nodeCount(), DType::Unknown);
    for (const NodeId id : plan.order) {
        if (!source.isVariable(id))
            continue;
        const std::uint32_t output = plan.firstOutput[id];
        const bool narrows = storable[id] && counts[output].target > 0 && counts[output].fp32 == 0
            && counts[output].other == 0;
        stored[id] = narrows ? target : plan.native[output];
    }
    return stored;
}

/// Everything that is decided before the graph is built.
struct Decisions
{
    TypedPlan plan;
    ConvertedBodies bodies;
    std::vector<DType> stored; ///< by NodeId: the type of a variable in the converted graph
};

Result<Decisions> decide(const graph::Graph &source, const infer::NodeTypes &rules,
                         const policy::Assignment &assignment, std::span<const infer::Variable> variables,
                         const TypedSettings &settings, bool parametersFollow, const Progress &progress)
{
    const PlanSettings planSettings{settings.target, settings.mode, settings.share, settings.keepIoTypes,
                                    parametersFollow};
    Decisions made;
    HALFTONE_TRY(made.plan, planTypes(source, rules, assignment, variables, planSettings, progress));
    HALFTONE_TRY(made.bodies, convertBodies(source, assignment, settings, progress, made.plan));
    const std::vector<bool> storable = storableVariables(source, assignment, variables, made.plan, settings);
    if (settings.mode == policy::Mode::Typed) // the others say of each operator what it computes in
        moveCasts(source, rules, assignment, {settings.target, &storable, settings.shapes}, made.plan);
    made.stored = storedTypes(source, made.plan, storable, settings.target);
    return made;
}

std::size_t countCasts(const graph::Graph &source, const Decisions &made, DType target)
{
    const ReadCounts counts(source, made.plan, target);
    std::size_t casts = 0;
    for (const NodeId id : made.plan.order) {
        const std::uint32_t first = made.plan.firstOutput[id];
        const std::uint32_t end = id + 1 < made.plan.firstOutput.size()
            ? made.plan.firstOutput[id + 1]
            : static_cast<std::uint32_t>(made.plan.value.size());
        for (std::uint32_t output = first; output < end; ++output) {
            const DType native = source.isVariable(id) ? made.stored[id] : made.plan.native[output];
            casts += native != DType::F32 && counts[output].fp32 > 0 ? 1U : 0U;
            casts += native != target && counts[output].target > 0 ? 1U : 0U;
        }
    }
    return casts;
}

} // namespace

Result<rewrite::Conversion> convertTyped(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const TypedSettings &settings, const Progress &progress)
{
    const infer::NodeTypes rules(source, settings.depth);
    HALFTONE_TRY(Decisions made, decide(source, rules, assignment, variables, settings, true, progress));
    if (made.plan.parametersFollowed) {
        HALFTONE_TRY(Decisions other,
                     decide(source, rules, assignment, variables, settings, false, progress));
        if (countCasts(source, other, settings.target) < countCasts(source, made, settings.target))
            made = std::move(other);
    }
    const TypedPlan &plan = made.plan;
    rewrite::Conversion conversion
        = TypedBuilder(source, rules, plan, variables, made.stored, made.bodies.definitions).build();
    conversion.bodies = std::move(made.bodies.log);
    if (settings.depth == 0) // a body's types come from around it
        markOpenParameters(source, variables, conversion);
    for (const NodeId id : plan.order) {
        const DType native = plan.native[plan.firstOutput[id]];
        if (source.isVariable(id) && made.stored[id] != native)
            conversion.parameters.push_back({id, native, made.stored[id]});
    }
    return conversion;
}

} // namespace halftone::mixed
