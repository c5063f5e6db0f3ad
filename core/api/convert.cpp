#include "halftone/convert.h"

#include "core/api/inside.h"
#include "core/policy/policy_json.h"
#include "core/report/conversion_json.h"
#include "core/results/weights_json.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>

namespace halftone::api {
namespace {

halftone::Result<walks::CalibrateOptions> calibrateOptions(const ConvertOptions &options)
{
    walks::CalibrateOptions calibrate;
    HALFTONE_CHECK(setWork(calibrate, options.data, options.compute));
    calibrate.threshold.percentile = options.percentile;
    return calibrate;
}

halftone::Result<void> checkCorrection(const policy::Policy &policy, const ConvertOptions &options)
{
    if (!options.correctBiases || (walks::asksForInt8(policy) && options.data.isGiven()))
        return {};
    return badCall({}, "bias correction needs int8 operators and data");
}

} // namespace

Conversion::Conversion(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{
}

const Model &Conversion::source() const
{
    return m_content->source;
}

const Model &Conversion::model() const
{
    return m_content->model;
}

std::size_t Conversion::casts() const
{
    return rewrite::castTotals(m_content->derived.converted->conversion).all();
}

std::size_t Conversion::sharedReaders() const
{
    return rewrite::castTotals(m_content->derived.converted->conversion).shared;
}

std::size_t Conversion::storedParameters() const
{
    const auto &changes = m_content->derived.converted->parameters;
    return static_cast<std::size_t>(
        std::ranges::count_if(changes, [](const auto &change) { return change.from != change.to; }));
}

std::size_t Conversion::correctedBiases() const
{
    return m_content->derived.correctedBiases;
}

double Conversion::seconds() const
{
    return m_content->derived.converted->seconds;
}

std::vector<ConvertedNode> Conversion::nodes() const
{
    std::vector<ConvertedNode> nodes;
    const graph::Graph &graph = Inside::graphModelOf(m_content->source).graph;
    const mixed::ConvertedModel &converted = *m_content->derived.converted;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            nodes.push_back({graph.node(id).name, graph.node(id).op,
                             typeOf(converted.conversion.precisionOf(id)), converted.assignment.entry(id)});
    }
    return nodes;
}

const std::vector<Warning> &Conversion::warnings() const
{
    return m_content->warnings;
}

const std::vector<std::string> &Conversion::notes() const
{
    return m_content->derived.notes;
}

std::string Conversion::policy() const
{
    return policy::writePolicy(m_content->derived.converted->policy);
}

std::string Conversion::report() const
{
    std::string report = report::conversionJson(Inside::graphModelOf(m_content->source).graph,
                                                *m_content->derived.converted, &m_content->shapes);
    return m_content->weights ? results::withLowered(report, *m_content->weights) : report;
}

halftone::Result<Conversion> Inside::convert(const Model &model, const policy::Policy &wanted,
                                             const ConvertOptions &options,
                                             const halftone::Progress &progress)
{
    HALFTONE_CHECK(checkCorrection(wanted, options));
    const session::Session &session = sessionOf(model);
    std::vector<std::string> notes; // the model has told them
    HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
    session::DeriveRequest request{session.source().model, session.source().modelPath, wanted, &shapes};
    request.strict = options.strict;
    request.storesWeights = true;
    request.opset = options.opset;
    request.isForAnalysis = options.isForAnalysis;
    request.ranges.table = options.rangeTable;
    HALFTONE_TRY(request.ranges.calibrate, calibrateOptions(options));
    if (options.correctBiases)
        request.correction = request.ranges.calibrate;
    HALFTONE_TRY(session::Derived derived, session.derive(request, progress));
    std::optional<weights::LoweredModel> lowered;
    if (!wanted.weights.empty()) {
        HALFTONE_TRY(lowered,
                     weights::lowerWeights(derived.converted->model, weights::weightsOf(wanted),
                                           &session.source().model));
        derived.notes.insert(derived.notes.end(), lowered->notes.begin(), lowered->notes.end());
    }
    HALFTONE_TRY(Model made, modelFrom(model, lowered ? lowered->model : derived.converted->model));
    std::vector<Warning> warnings = warningsOf(derived.converted->warnings);
    return Conversion(std::make_shared<const Conversion::Content>(
        Conversion::Content{model, std::move(made), std::move(shapes), std::move(derived), std::move(lowered),
                            std::move(warnings)}));
}

Result<Conversion> convert(const Model &model, const Policy &policy, const ConvertOptions &options,
                           const Progress &progress)
{
    return answer([&]() -> halftone::Result<Conversion> {
        HALFTONE_TRY(const policy::Policy wanted, policyOf(policy));
        return Inside::convert(model, wanted, options, progressOf(progress));
    });
}

} // namespace halftone::api
