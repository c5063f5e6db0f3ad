#include "core/session/session.h"

#include "core/base/text.h"
#include "core/io/npz.h"
#include "core/passes/restore_parameters.h"

#include <algorithm>

namespace halftone::session {
namespace {

Error unknownInput(const graph::Graph &graph, const std::string &name)
{
    std::vector<std::string_view> names;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            names.emplace_back(graph.node(id).name);
    }
    return badInput(name, "the model has no input of this name" + didYouMean(nearestNames(name, names)));
}

bool hasVariable(const graph::Graph &graph, const std::string &name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) && graph.node(id).name == name)
            return true;
    }
    return false;
}

} // namespace

Result<Session> Session::open(const std::string &path, const io::LoadOptions &options)
{
    HALFTONE_TRY(io::LoadedModel loaded, io::loadModel(path, options));
    Session session;
    session.m_source = std::make_shared<const io::LoadedModel>(std::move(loaded));
    return session;
}

Result<void> Session::setInputShape(const std::string &name, tensor::Shape shape)
{
    if (!hasVariable(m_source->model.graph, name))
        return unknownInput(m_source->model.graph, name);
    m_inputShapes.insert_or_assign(name, std::move(shape));
    return {};
}

Result<void> Session::useExample(const std::string &npzPath, policy::Policy &policy)
{
    HALFTONE_TRY(const std::vector<io::NamedTensor> arrays, io::readNpz(npzPath));
    for (const io::NamedTensor &array : arrays) {
        if (array.name == "labels") // belongs to the example, not to the model
            continue;
        auto set = setInputShape(array.name, array.tensor.shape());
        if (!set.ok())
            return inFile(std::move(set).error(), npzPath);
        policy.inputDtypes.try_emplace(array.name, array.tensor.dtype());
    }
    return {};
}

Result<passes::ShapeMap> Session::shapes(std::vector<std::string> &notes) const
{
    const graph::Graph &graph = m_source->model.graph;
    std::unordered_map<std::string, tensor::Shape> known = m_inputShapes;
    for (const tensor::Array &array : m_source->model.parameters)
        known.try_emplace(std::string(graph::variableOf(array.name)), array.shape);
    auto shapes = passes::inferShapes(graph, known);
    if (shapes.ok())
        return shapes;
    if (!m_inputShapes.empty())
        return inFile(std::move(shapes).error(), m_source->symbolPath);
    notes.push_back("shapes stay unknown: " + shapes.error().message());
    return passes::unknownShapes(graph);
}

Result<std::shared_ptr<const passes::ConvertedModel>>
Session::convert(const policy::Policy &policy, bool strict, const Progress &progress,
                 const passes::ShapeMap *shapes, const passes::QuantizedRanges *ranges) const
{
    auto converted = passes::convertModel(m_source->model, policy, strict, progress, shapes, ranges);
    if (!converted.ok())
        return inFile(std::move(converted).error(), m_source->symbolPath);
    return std::make_shared<const passes::ConvertedModel>(std::move(converted).value());
}

Result<passes::QuantizedRanges> Session::rangesFor(const policy::Policy &policy, const RangeSource &source,
                                                   const Progress &progress) const
{
    auto ranges = session::rangesFor(m_source->model, m_source->symbolPath, policy, source, progress);
    if (!ranges.ok())
        return located(std::move(ranges).error());
    return ranges;
}

Result<passes::Rewritten> Session::rewrite(const graph::Model &model, const passes::RewritePass &pass,
                                           const Progress &progress) const
{
    auto rewritten = pass.run(model, progress);
    if (!rewritten.ok())
        return inFile(std::move(rewritten).error(), m_source->symbolPath);
    return rewritten;
}

Result<passes::Rewritten> Session::restoreParameters(const graph::Model &model, const std::string &paramsPath,
                                                     const Progress &progress) const
{
    HALFTONE_TRY(const io::LoadedModel original, io::loadModel(paramsPath));
    auto restored = passes::restoreParameters(model, original.model.parameters, progress);
    if (!restored.ok())
        return inFile(std::move(restored).error(), paramsPath);
    return restored;
}

Result<RunOutcome> Session::run(const RunSettings &settings, const Progress &progress) const
{
    auto outcome = runModel(m_source->model, m_source->symbolPath, settings, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

/// What concerns no file of its own concerns the model; a bad call concerns the caller.
Error Session::located(Error error) const
{
    if ((error.code == Errc::BadInput || error.code == Errc::Unsupported) && !error.where.starts_with("--"))
        return inFile(std::move(error), m_source->symbolPath);
    return error;
}

Result<CompareOutcome> Session::compare(const passes::ConvertedModel &converted,
                                        const CompareOptions &options, const Progress &progress) const
{
    auto outcome
        = compareModels(profile::convertedPair(m_source->model, converted.model, converted.conversion),
                        m_source->symbolPath, options, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

Result<CompareOutcome> Session::compareAgainst(const std::string &path, const CompareOptions &options,
                                               const Progress &progress) const
{
    HALFTONE_TRY(const io::LoadedModel other, io::loadModel(path));
    auto models = profile::pairByName(m_source->model, other.model);
    if (!models.ok())
        return inFile(std::move(models).error(), path);
    auto outcome = compareModels(std::move(models).value(), m_source->symbolPath, options, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

Result<CalibrateOutcome> Session::calibrate(const CalibrateOptions &options, const Progress &progress) const
{
    auto outcome = calibrateModel(m_source->model, m_source->symbolPath, options, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

Result<QuantizeOutcome> Session::quantize(const QuantizeSettings &settings, const Progress &progress) const
{
    auto outcome = quantizeModel(m_source->model, m_source->symbolPath, settings, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

Result<std::vector<std::string>> Session::write(const graph::Model &model, const std::string &prefix) const
{
    return io::saveModel(model, prefix, *m_source);
}

} // namespace halftone::session
