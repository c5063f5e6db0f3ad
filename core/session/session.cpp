#include "core/session/session.h"

#include "core/base/text.h"
#include "core/io/npz.h"

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
Session::convert(const policy::Policy &policy, bool strict, const Progress &progress) const
{
    auto converted = passes::convertModel(m_source->model, policy, strict, progress);
    if (!converted.ok())
        return inFile(std::move(converted).error(), m_source->symbolPath);
    return std::make_shared<const passes::ConvertedModel>(std::move(converted).value());
}

Result<passes::Rewritten> Session::rewrite(const graph::Model &model, const passes::RewritePass &pass,
                                           const Progress &progress) const
{
    auto rewritten = pass.run(model, progress);
    if (!rewritten.ok())
        return inFile(std::move(rewritten).error(), m_source->symbolPath);
    return rewritten;
}

Result<std::vector<std::string>> Session::write(const graph::Model &model, const std::string &prefix) const
{
    return io::saveModel(model, prefix, *m_source);
}

} // namespace halftone::session
