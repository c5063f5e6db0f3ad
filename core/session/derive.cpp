#include "core/session/derive.h"

#include "core/base/progress_part.h"
#include "core/dialect/dialect.h"
#include "core/dialect/needed_version.h"
#include "core/hardware/catalogue.h"
#include "core/machines/measure_machine.h"
#include "core/mixed/lowered_nodes.h"
#include "core/policy/policy_options.h"
#include "core/walks/feature_means.h"

#include <algorithm>

namespace halftone::session {
namespace {

constexpr double kWalkShare = 0.9; ///< of correcting biases: the examples are run once more
constexpr double kCorrectionShare = 0.5; ///< of a conversion that corrects biases

Result<void> warnOfWeights(const DeriveRequest &request, std::vector<policy::Warning> &warnings)
{
    if (request.storesWeights || request.policy.weights.empty())
        return {};
    policy::Warning warning{"weights",
                            "not followed here: weights keep the type that the operators compute in",
                            "weights_not_followed"};
    if (request.strict)
        return badInput(std::move(warning.entry), std::move(warning.text));
    warnings.push_back(std::move(warning));
    return {};
}

Result<std::shared_ptr<const mixed::ConvertedModel>>
convert(const graph::Model &model, const DeriveRequest &request, mixed::Decided decided,
        const quantize::QuantizedRanges &ranges, const mixed::ConvertedModel *before,
        const std::string &whyRaised, const Progress &progress)
{
    HALFTONE_TRY(mixed::ConvertedModel converted,
                 mixed::convertModel(
                     model, request.policy, std::move(decided),
                     {request.strict, request.shapes, &ranges, before ? before->forms : nullptr, whyRaised},
                     progress));
    HALFTONE_CHECK(warnOfWeights(request, converted.warnings));
    return std::make_shared<const mixed::ConvertedModel>(std::move(converted));
}

/// Puts the corrected conversion in place of the one that is there. Its graph and decisions are the same.
Result<void> correct(const DeriveRequest &request, mixed::Decided decided,
                     const quantize::QuantizedRanges &ranges, const Progress &progress, Derived &derived)
{
    const auto products = quantize::int8Products(request.model.graph, derived.converted->model.graph);
    HALFTONE_TRY(const auto means,
                 walks::featureMeans(request.model, request.modelPath, products, ranges,
                                     quantize::QuantizedCodes::Auto, *request.correction,
                                     partOf(progress, 0, kWalkShare)));
    HALFTONE_TRY(quantize::CorrectedBiases biases, quantize::correctBiases(request.model, products, means));
    HALFTONE_TRY(derived.converted,
                 convert(biases.model, request, std::move(decided), ranges, derived.converted.get(),
                         derived.converted->whyRaised, partOf(progress, kWalkShare, 1 - kWalkShare)));
    derived.correctedBiases = biases.corrected;
    derived.notes = std::move(biases.notes);
    return {};
}

/// The newer version that nodes need which the policy names for the 16-bit type, whatever the built-in lists say of their operators; 0: none.
Result<dialect::NeededVersion> neededByName(const graph::Graph &source, const policy::Policy &policy)
{
    std::vector<policy::Warning> told; // by the conversion
    const auto named = policy::matchNames(policy, source, told);
    if (!named.ok())
        return inField(named.error(), Field::Policy);
    const auto &overrides = named.value().overrides;
    const auto isNamed = [&](const graph::Graph &graph, graph::NodeId id) {
        const auto found = overrides.find(id);
        return &graph == &source && found != overrides.end() && found->second == policy.target;
    };
    dialect::NeededVersion needed = dialect::neededVersion(source, policy.target, isNamed);
    return needed.number > dialect::of(source).versionNumber() ? std::move(needed) : dialect::NeededVersion();
}

/// Takes the model over into a newer version of its format, where what computes in 16 bit needs that: what stays float32 needs none.
/// Gives why.
/// known  what is decided of the result, where that was needed to find it
Result<std::string> raise(const DeriveRequest &given, graph::Model &model,
                          std::optional<mixed::Decided> &known, const Progress &progress)
{
    const graph::Graph &source = given.model.graph;
    const tensor::DType target = given.policy.target;
    HALFTONE_TRY(const dialect::NeededVersion named, neededByName(source, given.policy));
    HALFTONE_TRY(std::optional<dialect::Raised> raised,
                 dialect::of(source).raised(source, target, std::max(given.opset, named.number)));
    if (!raised)
        return std::string();
    model.graph = std::move(raised->graph);
    const int version = dialect::of(model.graph).versionNumber();
    if (given.opset >= version) // what is asked for is no news
        return std::string();
    if (named.number >= version)
        raised->why = named.why;
    HALFTONE_TRY(known, mixed::decide(model, given.policy));
    const auto isAsked = [&](const graph::Graph &in, graph::NodeId id) {
        return &in == &model.graph && known->assignment.requested(id) == policy::Request::Target;
    };
    if (dialect::neededVersion(model.graph, target, isAsked).number >= version) // as most often
        return std::move(raised->why);
    HALFTONE_TRY(const mixed::LoweredNodes lowered,
                 mixed::loweredNodes(model, given.policy, *known, given.shapes, progress));
    const auto isLowered = [&lowered](const graph::Graph &in, graph::NodeId id) {
        const auto found = lowered.find(&in);
        return found != lowered.end() && found->second[id];
    };
    const dialect::NeededVersion needed = dialect::neededVersion(model.graph, target, isLowered);
    if (needed.number >= version)
        return std::move(raised->why);
    known.reset();
    const int enough = std::max(needed.number, given.opset);
    HALFTONE_TRY(raised, dialect::of(source).raised(source, tensor::DType::F32, enough));
    if (!raised) {
        model.graph = source;
        return std::string();
    }
    model.graph = std::move(raised->graph);
    return given.opset < needed.number ? needed.why : std::string();
}

} // namespace

Result<Derived> derive(const DeriveRequest &given, const Progress &whole)
{
    if (given.policy.analysedFormat && !given.isForAnalysis)
        return policy::notExported(*given.policy.analysedFormat);
    const double plain = given.correction ? 1 - kCorrectionShare : 1;
    const Progress progress = partOf(whole, 0, plain);
    // What a measurement takes is far more than the rest.
    const double begun = isQuickChip(given.policy.hardware) ? 0 : 0.9;
    HALFTONE_CHECK(machines::ensureMeasured(given.policy.hardware, partOf(progress, 0, begun)));
    HALFTONE_CHECK(progress.checkStop());
    const Progress finding = partOf(progress, begun, (1 - begun) / 2);
    const Progress converting = partOf(progress, (1 + begun) / 2, (1 - begun) / 2);
    graph::Model model = given.model;
    std::optional<mixed::Decided> known;
    HALFTONE_TRY(const std::string whyRaised, raise(given, model, known, partOf(progress, begun, 0)));
    const DeriveRequest request{
        model,        given.modelPath,  given.policy, given.shapes,        given.ranges,
        given.strict, given.correction, given.before, given.isForAnalysis, given.storesWeights,
        given.opset};
    if (!known) {
        HALFTONE_TRY(known, mixed::decide(request.model, request.policy));
    }
    mixed::Decided decided = std::move(*known);
    HALFTONE_CHECK(progress.checkStop());
    HALFTONE_TRY(
        const quantize::QuantizedRanges ranges,
        walks::rangesFor(request.model, request.modelPath, request.policy, decided, request.ranges, finding));
    Derived derived;
    derived.rules = decided.rules;
    if (!request.correction) {
        HALFTONE_TRY(derived.converted,
                     convert(request.model, request, std::move(decided), ranges, request.before, whyRaised,
                             converting));
        return derived;
    }
    HALFTONE_TRY(derived.converted,
                 convert(request.model, request, decided, ranges, request.before, whyRaised, converting));
    HALFTONE_CHECK(
        correct(request, std::move(decided), ranges, partOf(whole, plain, kCorrectionShare), derived));
    return derived;
}

bool isQuickChip(std::string_view chip)
{
    const bool isAtHand = chip == hardware::kThis || chip == hardware::kThisGpu;
    return !isAtHand || machines::isMeasured(chip);
}

Result<compare::ComparedModels> comparedPair(const graph::Model &source,
                                             const mixed::ConvertedModel &converted, const Progress &progress)
{
    compare::ComparedModels models = compare::convertedPair(source, converted.model, converted.conversion);
    const policy::Policy &policy = converted.policy;
    if (policy.analysedFormat)
        HALFTONE_CHECK(compare::replaceFloat16(
            models, *policy.analysedFormat,
            policy.clamp.value_or(dialect::of(source.graph).clampsParameters()), progress));
    return models;
}

Result<Derived> deriveCorrected(const Snapshot &snapshot, const walks::CalibrateOptions &examples,
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
