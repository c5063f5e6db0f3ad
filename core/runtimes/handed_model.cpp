#include "core/runtimes/handed_model.h"

#include "core/dialect/dialect.h"
#include "core/io/model_io.h"
#include "core/runtimes/kinds.h"
#include "core/translate/translation.h"

#include <stdlib.h> // NOLINT(modernize-deprecated-headers): mkdtemp() is POSIX's

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

namespace halftone::runtimes {
namespace {

using graph::NodeId;

constexpr std::size_t kMostInOneFile = std::size_t{1}
    << 30; ///< bytes of parameters; more lie in a file beside the model

/// Types and shapes of the variables, by name.
translate::InputFacts factsOf(const infer::TypedModel &model)
{
    translate::InputFacts facts;
    const graph::Graph &graph = model.model.graph;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            continue;
        facts.shapes.emplace(graph.node(id).name, model.shapes.of({id, 0, 0}));
        facts.types.emplace(graph.node(id).name, model.types.at(id, 0));
    }
    return facts;
}

} // namespace

Result<HandedModel> HandedModel::make(const infer::TypedModel &model)
{
    HandedModel handed;
    HALFTONE_CHECK(handed.makeFolder());
    if (dialect::of(model.model.graph).name() == kHandedFormat) {
        HALFTONE_CHECK(handed.write(model.model, model));
        return handed;
    }
    const translate::Translation translation = translate::translationTo(kHandedFormat);
    if (translation == nullptr)
        return unsupported(std::string(dialect::of(model.model.graph).title()) + " models",
                           "no runtime reads them, and this build cannot translate them");
    HALFTONE_TRY(const graph::Model translated, translation(model.model, factsOf(model)));
    HALFTONE_CHECK(handed.write(translated, model));
    return handed;
}

HandedModel::~HandedModel()
{
    std::error_code none;
    if (!m_folder.empty())
        std::filesystem::remove_all(m_folder, none);
}

Result<void> HandedModel::makeFolder()
{
    std::error_code none;
    std::string pattern = (std::filesystem::temp_directory_path(none) / "halftone-runtime-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        return Error{Errc::BadInput, pattern, {}, std::strerror(errno), "; TMPDIR names another folder"};
    m_folder = pattern;
    return {};
}

Result<void> HandedModel::write(const graph::Model &model, const infer::TypedModel &source)
{
    const io::ModelFormat *const format = io::formatOf(model.graph);
    if (format == nullptr || format->handOver == nullptr)
        return unsupported({}, "a model of a format that no runtime reads");
    HALFTONE_CHECK(findInputs(model, source));
    HALFTONE_TRY(io::ModelOutput output, io::ModelOutput::claim(m_folder + "/model", *format));
    if (graph::parameterBytes(model) > kMostInOneFile)
        output.separateValues();
    std::vector<tensor::DType> outputTypes;
    for (const graph::Entry &head : source.model.graph.heads())
        outputTypes.push_back(source.types.of(head));
    std::unordered_map<std::string, tensor::Shape> shapes;
    for (const HandedInput &input : m_inputs)
        shapes.emplace(input.port.name, input.port.desc.shape);
    HALFTONE_CHECK(format->handOver(model, output, outputTypes, shapes));
    m_file = output.modelPath();
    return {};
}

/// Variables without values.
Result<void> HandedModel::findInputs(const graph::Model &model, const infer::TypedModel &source)
{
    const translate::InputFacts facts = factsOf(source);
    std::unordered_set<std::string_view> held;
    for (const tensor::Array &array : model.parameters)
        held.insert(dialect::variableOf(model.graph, array.name));
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        if (!model.graph.isVariable(id) || held.contains(name))
            continue;
        const auto shape = facts.shapes.find(name);
        if (shape == facts.shapes.end() || !shape->second.isComplete()
            || facts.types.at(name) == tensor::DType::Unknown)
            return badInput(name, "an input whose type or shape is not known");
        m_inputs.push_back({{name, {facts.types.at(name), shape->second}},
                            dialect::of(model.graph).entryName(model.graph, {id, 0, 0})});
    }
    return {};
}

} // namespace halftone::runtimes
