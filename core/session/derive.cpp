#include "core/session/derive.h"

#include "core/dialect/dialect.h"
#include "core/jobs/feature_means.h"

namespace halftone::session {
namespace {

Result<std::shared_ptr<const mixed::ConvertedModel>>
convert(const graph::Model &model, const DeriveRequest &request, mixed::Decided decided,
        const quantize::QuantizedRanges &ranges, const mixed::ConvertedModel *before,
        const Progress &progress)
{
    HALFTONE_TRY(mixed::ConvertedModel converted,
                 mixed::convertModel(
                     model, request.policy, std::move(decided),
                     {request.strict, request.shapes, &ranges, before ? before->forms : nullptr}, progress));
    return std::make_shared<const mixed::ConvertedModel>(std::move(converted));
}

/// Puts the corrected conversion in place of the one that is there. Its graph and decisions are the same.
Result<void> correct(const DeriveRequest &request, mixed::Decided decided,
                     const quantize::QuantizedRanges &ranges, const Progress &progress, Derived &derived)
{
    const auto products = quantize::int8Products(request.model.graph, derived.converted->model.graph);
    HALFTONE_TRY(const auto means,
                 jobs::featureMeans(request.model, request.modelPath, products, ranges,
                                    quantize::QuantizedCodes::Auto, *request.correction, progress));
    HALFTONE_TRY(quantize::CorrectedBiases biases, quantize::correctBiases(request.model, products, means));
    HALFTONE_TRY(
        derived.converted,
        convert(biases.model, request, std::move(decided), ranges, derived.converted.get(), progress));
    derived.correctedBiases = biases.corrected;
    derived.notes = std::move(biases.notes);
    return {};
}

} // namespace

Result<Derived> derive(const DeriveRequest &given, const Progress &progress)
{
    graph::Model model = given.model;
    HALFTONE_TRY(const dialect::Dialect *const dialect,
                 dialect::of(model.graph).dialectFor(model.graph, given.policy.target));
    if (dialect != model.graph.dialect())
        model.graph = graph::Graph::inDialect(model.graph, *dialect);
    const DeriveRequest request{model,        given.modelPath, given.policy,     given.shapes,
                                given.ranges, given.strict,    given.correction, given.before};
    HALFTONE_TRY(mixed::Decided decided, mixed::decide(request.model, request.policy));
    HALFTONE_TRY(
        const quantize::QuantizedRanges ranges,
        jobs::rangesFor(request.model, request.modelPath, request.policy, decided, request.ranges, progress));
    Derived derived;
    derived.rules = decided.rules;
    if (!request.correction) {
        HALFTONE_TRY(derived.converted,
                     convert(request.model, request, std::move(decided), ranges, request.before, progress));
        return derived;
    }
    HALFTONE_TRY(derived.converted,
                 convert(request.model, request, decided, ranges, request.before, progress));
    HALFTONE_CHECK(correct(request, std::move(decided), ranges, progress, derived));
    return derived;
}

Result<Derived> deriveCorrected(const Snapshot &snapshot, const jobs::CalibrateOptions &examples,
                                const Progress &progress)
{
    DeriveRequest request{snapshot.source->model, snapshot.source->modelPath, *snapshot.policy,
                          snapshot.shapes.get()};
    request.ranges.calibrated = snapshot.ranges;
    request.correction = examples;
    request.before = snapshot.converted.get();
    return derive(request, progress);
}

} // namespace halftone::session
