#include "halftone/open.h"

#include "core/api/inside.h"
#include "core/base/huge_pages.h"
#include "core/dialect/dialect.h"
#include "core/infer/shown_outputs.h"
#include "core/infer/stored_types.h"
#include "core/infer/variables.h"
#include "core/io/model_bytes.h"
#include "core/results/info_json.h"
#include "core/session/in_format.h"
#include "core/walks/run.h"

namespace halftone::api {
namespace {

std::vector<Value> outputsOf(const graph::Model &model, const infer::ShapeMap &shapes)
{
    const graph::Graph &graph = model.graph;
    std::vector<Value> outputs;
    const std::vector<std::string> names = walks::sourceOutputNames(graph);
    const auto types = infer::storedTypes(model);
    for (std::size_t k = 0; k < names.size(); ++k) {
        const graph::Entry &head = graph.heads()[k];
        outputs.push_back({names[k], shapeOf(shapes.of(head)),
                           types.ok() ? typeOf(types.value().of(head)) : Type::Unknown});
    }
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
    std::vector<Value> outputs = outputsOf(loaded.model, shapes);
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

std::string Model::format() const
{
    return std::string(dialect::of(Inside::graphModelOf(*this).graph).name());
}

std::vector<Node> Model::nodes() const
{
    const graph::Graph &graph = Inside::graphModelOf(*this).graph;
    const dialect::Dialect &dialect = dialect::of(graph);
    const std::vector<std::size_t> shown = infer::shownOutputs(graph);
    std::vector<Node> nodes;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            continue;
        Node &node = nodes.emplace_back(Node{graph.node(id).name, graph.node(id).op, {}, {}});
        for (const graph::Entry &input : graph.inputs(id))
            node.inputs.push_back(dialect.entryName(graph, input));
        for (std::uint32_t k = 0; k < shown[id]; ++k)
            node.outputs.push_back(dialect.entryName(graph, {id, k, 0}));
    }
    return nodes;
}

Result<std::string> Model::report() const
{
    return answer([&]() -> halftone::Result<std::string> {
        HALFTONE_TRY(const results::ModelFacts facts, results::modelFacts(m_content->session));
        return textOf(results::infoJson(facts));
    });
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

namespace {

halftone::Result<Model> withShapes(session::Session session, const OpenOptions &options)
{
    for (const auto &[name, shape] : options.shapes)
        HALFTONE_CHECK(session.setInputShape(name, tensor::Shape(shape)));
    return Inside::model(std::move(session));
}

io::LoadOptions loadOptions(const OpenOptions &options)
{
    io::LoadOptions how;
    how.params = options.parameters;
    how.noParams = options.withoutParameters;
    return how;
}

} // namespace

Result<Model> open(const std::string &path, const OpenOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Model> {
        HALFTONE_CHECK(progressOf(progress).checkStop());
        io::LoadOptions how = loadOptions(options);
        how.stop = progressOf(progress).stop;
        HALFTONE_TRY(session::Session session, session::Session::open(path, how));
        HALFTONE_CHECK(progressOf(progress).checkStop());
        return withShapes(std::move(session), options);
    });
}

Result<Model> read(std::span<const std::byte> bytes, const std::string &path, const OpenOptions &options)
{
    return answer([&]() -> halftone::Result<Model> {
        std::vector<std::byte> copy;
        copy.reserve(bytes.size());
        wantHugePages(copy.data(), copy.capacity());
        copy.assign(bytes.begin(), bytes.end());
        HALFTONE_TRY(session::Session session,
                     session::Session::read(std::move(copy), path, loadOptions(options)));
        return withShapes(std::move(session), options);
    });
}

Result<std::vector<std::string>> save(const Model &model, const std::string &prefix,
                                      const SaveOptions &options)
{
    return answer([&]() -> halftone::Result<std::vector<std::string>> {
        const graph::Model &written = Inside::graphModelOf(model);
        HALFTONE_TRY(io::ModelOutput output,
                     io::ModelOutput::claim(prefix, io::outputFormat(prefix, written.graph)));
        if (options.externalData)
            output.separateValues();
        return Inside::sessionOf(model).write(written, output);
    });
}

Result<std::vector<std::byte>> bytes(const Model &model)
{
    return answer([&] {
        const graph::Model &written = Inside::graphModelOf(model);
        const io::ModelFormat *const format = io::formatOf(written.graph);
        return io::modelBytes(written,
                              format != nullptr ? session::writtenTypes(*format, written)
                                                : std::vector<tensor::DType>());
    });
}

} // namespace halftone::api
