#include "core/mixed/convert_typed.h"

#include "core/dialect/dialect.h"
#include "core/dialect/overridable.h"
#include "core/mixed/convert_bodies.h"
#include "core/mixed/cut_casts.h"
#include "core/mixed/held_constants.h"
#include "core/mixed/kept_lists.h"
#include "core/mixed/mark_parameters.h"
#include "core/mixed/read_counts.h"
#include "core/mixed/typed_builder.h"

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;

/// Which variables and constants may change their type when all their readers want the target type.
std::vector<bool> storableVariables(const graph::Graph &source, const policy::Assignment &assignment,
                                    std::span<const infer::Variable> variables,
                                    const std::vector<bool> &constants, const TypedPlan &plan,
                                    const TypedSettings &settings)
{
    std::vector<bool> storable(source.nodeCount(), false);
    for (const NodeId id : plan.order) {
        if (constants[id])
            storable[id] = settings.castConstants && assignment.requested(id) != policy::Request::Fp32;
        if (!source.isVariable(id) || assignment.rule(id) == policy::Rule::ExcludedName)
            continue;
        const DType type = plan.native[plan.firstOutput[id]];
        // TVM's pass leaves inputs as they are.
        const bool mayComeLow = !settings.keepIoTypes && settings.mode != policy::Mode::Tvm;
        // Whoever runs the model may feed other values, of the type that is there.
        const bool isKept = settings.keepIoTypes && dialect::isOverridable(source, id);
        storable[id] = variables[id].isData ? mayComeLow && type == DType::F32
                                            : settings.castParams && rewrite::isCastable(type) && !isKept;
    }
    return storable;
}

/// The type of every variable and storable constant in the converted graph.
std::vector<DType> storedTypes(const graph::Graph &source, const TypedPlan &plan,
                               const std::vector<bool> &storable, DType target)
{
    const ReadCounts counts(source, plan, target);
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

/// Everything that is decided before the graph is built.
struct Decisions
{
    TypedPlan plan;
    ConvertedBodies bodies;
    std::vector<bool> storable{}; ///< by NodeId
    std::vector<bool> kept{}; ///< by NodeId; empty: none
};

Result<Decisions> decide(const graph::Graph &source, const infer::NodeTypes &rules,
                         const policy::Assignment &assignment, std::span<const infer::Variable> variables,
                         const TypedSettings &settings, const Progress &progress, std::vector<bool> kept = {})
{
    const std::vector<bool> constants = realConstants(source);
    const PlanSettings planSettings{settings.target,      settings.mode, settings.share,
                                    settings.keepIoTypes, &constants,    kept.empty() ? nullptr : &kept};
    Decisions made;
    HALFTONE_TRY(made.plan, planTypes(source, rules, assignment, variables, planSettings, progress));
    HALFTONE_TRY(made.bodies, convertBodies(source, assignment, settings, progress, made.plan));
    made.storable = storableVariables(source, assignment, variables, constants, made.plan, settings);
    made.kept = std::move(kept);
    return made;
}

CastContext contextOf(const Decisions &made, const TypedSettings &settings)
{
    return {settings.target, &made.storable, settings.shapes, settings.clock,
            made.kept.empty() ? nullptr : &made.kept};
}

/// Where a list would be cast, all that has to do with lists keeps its types.
/// cuts  with what is chosen for the fewest casts
Result<Decisions> settle(const graph::Graph &source, const infer::NodeTypes &rules,
                         const policy::Assignment &assignment, std::span<const infer::Variable> variables,
                         const TypedSettings &settings, const Progress &progress, bool cuts)
{
    const auto cut = [&](Decisions &made) {
        if (cuts)
            cutCasts(source, rules, assignment, contextOf(made, settings), made.plan);
    };
    HALFTONE_TRY(Decisions made, decide(source, rules, assignment, variables, settings, progress));
    cut(made);
    if (castsList(source, made.plan)) {
        HALFTONE_TRY(made,
                     decide(source, rules, assignment, variables, settings, progress, nodesOfLists(source)));
        cut(made);
    }
    return made;
}

} // namespace

Result<rewrite::Conversion> convertTyped(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const TypedSettings &settings, const Progress &progress)
{
    const infer::NodeTypes rules(source, settings.depth);
    // The other modes say of each operator what it computes in.
    HALFTONE_TRY(Decisions made,
                 settle(source, rules, assignment, variables, settings, progress,
                        settings.mode == policy::Mode::Typed));
    const TypedPlan &plan = made.plan;
    const std::vector<DType> stored = storedTypes(source, plan, made.storable, settings.target);
    HALFTONE_TRY(ConstantForms constants,
                 castConstants(source, plan, stored, settings.clamps, settings.forms));
    made.bodies.definitions.merge(constants.definitions);
    rewrite::Conversion conversion
        = TypedBuilder(source, rules, plan, variables, stored, made.bodies.definitions).build();
    conversion.parameters = std::move(constants.stored);
    conversion.bodies = std::move(made.bodies.log);
    // A body's types come from around it.
    if (settings.depth == 0 && dialect::of(source).infersParameterTypes())
        markOpenParameters(source, variables, conversion);
    for (const NodeId id : plan.order) {
        const DType native = plan.native[plan.firstOutput[id]];
        if (source.isVariable(id) && stored[id] != native)
            conversion.parameters.push_back({id, native, stored[id]});
    }
    return conversion;
}

Result<CastProblem> typedChoices(const graph::Graph &source, const policy::Assignment &assignment,
                                 std::span<const infer::Variable> variables, const TypedSettings &settings,
                                 const Progress &progress)
{
    const infer::NodeTypes rules(source, settings.depth);
    HALFTONE_TRY(const Decisions made,
                 settle(source, rules, assignment, variables, settings, progress, false));
    return castProblem(source, rules, assignment, contextOf(made, settings), made.plan);
}

} // namespace halftone::mixed
