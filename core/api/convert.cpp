#include "halftone/convert.h"

#include "core/api/inside.h"
#include "core/report/conversion_json.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>

namespace halftone::api {
namespace {

walks::CalibrateOptions calibrateOptions(const ConvertOptions &options)
{
    walks::CalibrateOptions calibrate;
    setWork(calibrate, options.data, options.compute);
    return calibrate;
}

halftone::Result<void> checkCorrection(const policy::Policy &policy, const ConvertOptions &options)
{
    if (!options.correctBiases || (walks::asksForInt8(policy) && !options.data.inputs.empty()))
        return {};
    return badCall({}, "bias correction needs int8 operators and data");
}

} // namespace

Conversion Inside::conversion(Conversion::Content content)
{
    return Conversion(std::make_shared<const Conversion::Content>(std::move(content)));
}

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

std::string Conversion::report() const
{
    return report::conversionJson(Inside::graphModelOf(m_content->source).graph,
                                  *m_content->derived.converted, &m_content->shapes);
}

Result<Conversion> convert(const Model &model, const Policy &policy, const ConvertOptions &options,
                           const Progress &progress)
{
    return answer([&]() -> halftone::Result<Conversion> {
        HALFTONE_TRY(const policy::Policy wanted, policyOf(policy));
        HALFTONE_CHECK(checkCorrection(wanted, options));
        const session::Session &session = Inside::sessionOf(model);
        std::vector<std::string> notes; // the model has told them
        HALFTONE_TRY(infer::ShapeMap shapes, session.shapes(notes));
        session::DeriveRequest request{session.source().model, session.source().modelPath, wanted, &shapes};
        request.strict = options.strict;
        request.ranges.table = options.rangeTable;
        request.ranges.calibrate = calibrateOptions(options);
        if (options.correctBiases)
            request.correction = request.ranges.calibrate;
        HALFTONE_TRY(session::Derived derived, session.derive(request, progressOf(progress)));
        HALFTONE_TRY(Model made, Inside::modelFrom(model, derived.converted->model));
        std::vector<Warning> warnings = warningsOf(derived.converted->warnings);
        return Inside::conversion(
            {model, std::move(made), std::move(shapes), std::move(derived), std::move(warnings)});
    });
}

} // namespace halftone::api
