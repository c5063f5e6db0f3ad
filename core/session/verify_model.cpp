#include "core/session/verify_model.h"

#include "core/infer/known_shapes.h"
#include "core/latency/typed_model.h"
#include "core/policy/policy_options.h"
#include "core/report/runtime_types.h"
#include "core/session/one_example.h"

namespace halftone::session {
namespace {

/// Where operators are what values say, a run tells; where that cannot be, costs stay open.
Result<infer::TypedModel> typedModel(const Session &session, infer::ShapeMap shapes,
                                     const policy::Policy &policy, rewrite::InlinedCalls calls,
                                     const Progress &progress)
{
    const graph::Model &model = session.source().model;
    infer::KnownShapes known = infer::variableShapes(model.graph, shapes);
    for (const auto &[name, shape] : session.inputShapes())
        known.insert_or_assign(name, shape);
    // Loops that are long are not run for the shapes behind them: their costs stay open.
    constexpr interpret::RunLimits kLimits{1000, std::size_t{64} << 20};
    auto typed = latency::typedModel(model, known, policy, progress, {}, kLimits, calls);
    if (typed.ok() || typed.error().code == Errc::Cancelled)
        return typed;
    return mixed::typedAsStored(model, std::move(shapes), policy);
}

/// Corrects the census by what a runtime makes of the model.
Result<void> askRuntime(const VerifyRequest &request, Census &found, const Progress &progress)
{
    if (request.backend.empty())
        return {};
    HALFTONE_TRY(const latency::PlanMaker maker,
                 latency::PlanMaker::create(request.backend, 1, request.precision));
    if (!maker.backend().wholeModels)
        return badCall(Field::Backend, request.backend + " computes in the types of the model",
                       "; pass a runtime, or leave it out");
    HALFTONE_TRY(const auto plan, maker.plan(found.typed));
    HALFTONE_CHECK(plan->timeSteps(1, progress)); // which tells the types
    report::addRuntimeTypes(found.census, found.typed.model.graph, *plan, request.backend);
    found.runtime = plan->runtime();
    return {};
}

} // namespace

Result<Census> verifyModel(Session session, const VerifyRequest &request, const Progress &progress)
{
    const policy::Policy *const policy = request.policy;
    if (policy != nullptr && policy->analysedFormat)
        return policy::notExported(*policy->analysedFormat);
    std::vector<std::string> notes;
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    HALFTONE_CHECK(takeOneExample(session, shapes));
    policy::Policy types;
    types.inputDtypes = request.inputTypes;
    const auto calls
        = request.backend.empty() ? rewrite::InlinedCalls::All : rewrite::InlinedCalls::OfTheModel;
    auto typed = typedModel(session, std::move(shapes), policy != nullptr ? *policy : types, calls, progress);
    if (!typed.ok())
        return inFile(std::move(typed).error(), session.source().modelPath);
    auto census = mixed::typeCensus(typed.value(), policy);
    if (!census.ok())
        return inFile(std::move(census).error(), session.source().modelPath);
    Census found{std::move(typed).value(), std::move(census).value(), {}, std::move(notes)};
    if (policy != nullptr && !policy->weights.empty())
        found.census.warnings.push_back({"weights",
                                         "not verified: only the types that operators compute in are",
                                         "weights_not_followed"});
    HALFTONE_CHECK(askRuntime(request, found, progress));
    return found;
}

} // namespace halftone::session
