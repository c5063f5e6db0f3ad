#include "halftone/open.h"

#include "core/api/inside.h"
#include "core/infer/variables.h"
#include "core/walks/run.h"

namespace halftone::api {
namespace {

std::vector<Value> outputsOf(const graph::Graph &graph, const infer::ShapeMap &shapes)
{
    std::vector<Value> outputs;
    const std::vector<std::string> names = walks::sourceOutputNames(graph);
    for (std::size_t k = 0; k < names.size(); ++k)
        outputs.push_back({names[k], shapeOf(shapes.of(graph.heads()[k])), Type::Unknown});
    return outputs;
}

halftone::Result<std::vector<Value>> inputsOf(const graph::Model &model, const infer::ShapeMap &shapes)
{
    std::vector<policy::Warning> told; // of a policy, which there is none of
    HALFTONE_TRY(const std::vector<infer::Variable> variables, infer::classifyVariables(model, {}, told));
    std::vector<Value> inputs;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (model.graph.isVariable(id) && variables[id].isData)
            inputs.push_back(
                {model.graph.node(id).name, shapeOf(shapes.byNode[id].front()), typeOf(variables[id].type)});
    }
    return inputs;
}

} // namespace

halftone::Result<Model> Inside::model(session::Session session)
{
    const io::LoadedModel &loaded = session.source();
    std::vector<std::string> notes = loaded.notes;
    HALFTONE_TRY(const infer::ShapeMap shapes, session.shapes(notes));
    HALFTONE_TRY(std::vector<Value> inputs, inputsOf(loaded.model, shapes));
    std::vector<Value> outputs = outputsOf(loaded.model.graph, shapes);
    return Model(std::make_shared<const Model::Content>(
        Model::Content{std::move(session), std::move(inputs), std::move(outputs), std::move(notes)}));
}

halftone::Result<Model> Inside::modelFrom(const Model &source, graph::Model made)
{
    io::LoadedModel loaded = sessionOf(source).source();
    loaded.model = std::move(made);
    loaded.notes.clear();
    return model(sessionOf(source).withSource(std::make_shared<const io::LoadedModel>(std::move(loaded))));
}

Model::Model(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{
}

const std::string &Model::path() const
{
    return m_content->session.source().modelPath;
}

bool Model::hasParameters() const
{
    return Inside::graphModelOf(*this).hasParameters;
}

std::size_t Model::nodeCount() const
{
    return Inside::graphModelOf(*this).graph.nodeCount();
}

std::map<std::string, std::size_t> Model::operators() const
{
    std::map<std::string, std::size_t> counts;
    const graph::Graph &graph = Inside::graphModelOf(*this).graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            ++counts[graph.node(id).op];
    }
    return counts;
}

const std::vector<Value> &Model::inputs() const
{
    return m_content->inputs;
}

const std::vector<Value> &Model::outputs() const
{
    return m_content->outputs;
}

const std::vector<std::string> &Model::notes() const
{
    return m_content->notes;
}

Result<Model> open(const std::string &path, const OpenOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Model> {
        HALFTONE_CHECK(progressOf(progress).checkStop());
        io::LoadOptions how;
        how.params = options.parameters;
        how.noParams = options.withoutParameters;
        how.stop = progressOf(progress).stop;
        HALFTONE_TRY(session::Session session, session::Session::open(path, how));
        for (const auto &[name, shape] : options.shapes)
            HALFTONE_CHECK(session.setInputShape(name, tensor::Shape(shape)));
        HALFTONE_CHECK(progressOf(progress).checkStop());
        return Inside::model(std::move(session));
    });
}

Result<std::vector<std::string>> save(const Model &model, const std::string &prefix)
{
    return answer([&] { return Inside::sessionOf(model).write(Inside::graphModelOf(model), prefix); });
}

} // namespace halftone::api
