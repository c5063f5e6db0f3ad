#include "core/session/session.h"

#include "core/base/text.h"
#include "core/infer/cpu_defects.h"
#include "core/infer/known_shapes.h"
#include "core/infer/static_shapes.h"
#include "core/infer/stored_types.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_bytes.h"
#include "core/rewrite/restore_parameters.h"
#include "core/session/in_format.h"
#include "core/session/open_model.h"

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

/// Of a model as it lies in its file.
Result<std::vector<policy::Warning>> warningsOf(const graph::Model &model)
{
    HALFTONE_TRY(const infer::TypeMap types, infer::storedTypes(model));
    return infer::cpuWarnings(model.graph, infer::cpuDefects(model.graph, types));
}

} // namespace

Result<Session> Session::open(const std::string &path, const io::LoadOptions &options)
{
    HALFTONE_TRY(io::LoadedModel loaded, openModel(path, options));
    Session session;
    session.m_source = std::make_shared<const io::LoadedModel>(std::move(loaded));
    return session;
}

Result<Session> Session::read(std::vector<std::byte> bytes, const std::string &path,
                              const io::LoadOptions &options)
{
    HALFTONE_TRY(io::LoadedModel loaded, io::readModel(std::move(bytes), path, options));
    HALFTONE_TRY(loaded, withTypesChecked(std::move(loaded)));
    Session session;
    session.m_source = std::make_shared<const io::LoadedModel>(std::move(loaded));
    return session;
}

Session Session::withSource(std::shared_ptr<const io::LoadedModel> source) const
{
    Session session = *this;
    session.m_source = std::move(source);
    return session;
}

Result<Session> Session::inFormatOf(const io::ModelOutput &output) const
{
    if (io::formatOf(m_source->model.graph) == &output.format())
        return *this;
    auto translated = session::inFormatOf(output, m_source->model, m_inputShapes, {});
    if (!translated.ok())
        return located(std::move(translated).error());
    io::LoadedModel loaded = *m_source;
    loaded.model = std::move(translated).value();
    return withSource(std::make_shared<const io::LoadedModel>(std::move(loaded)));
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

Result<infer::ShapeMap> Session::shapes(std::vector<std::string> &notes) const
{
    const graph::Graph &graph = m_source->model.graph;
    const infer::KnownShapes known = infer::withParameterShapes(m_inputShapes, m_source->model);
    auto shapes = infer::inferShapes(graph, known);
    if (!shapes.ok() && m_inputShapes.empty()) {
        notes.push_back("some shapes are unknown: " + shapes.error().message());
        return infer::unknownShapes(graph);
    }
    if (!shapes.ok())
        return inFile(std::move(shapes).error(), m_source->modelPath);
    auto followed = infer::staticShapes(m_source->model, std::move(shapes).value());
    if (followed.ok())
        return followed;
    if (!m_inputShapes.empty())
        return inFile(std::move(followed).error(), m_source->modelPath);
    notes.push_back(followed.error().message());
    return infer::inferShapes(graph, known);
}

Result<Derived> Session::derive(const DeriveRequest &request, const Progress &progress) const
{
    auto derived = session::derive(request, progress);
    if (!derived.ok())
        return located(std::move(derived).error());
    return derived;
}

Result<rewrite::Rewritten> Session::rewrite(const graph::Model &model, const rewrite::RewritePass &pass,
                                            int number, const Progress &progress) const
{
    rewrite::RewriteRequest request{progress, number};
    if (const auto &facts = m_source->facts)
        request.replaceable.insert(facts->replaceable.begin(), facts->replaceable.end());
    request.compute
        = [&progress](const graph::Model &constants) { return walks::constantHeads(constants, progress); };
    auto rewritten = pass.run(model, request);
    if (!rewritten.ok())
        return inFile(std::move(rewritten).error(), m_source->modelPath);
    return rewritten;
}

Result<rewrite::Rewritten> Session::restoreParameters(const graph::Model &model,
                                                      const io::LoadedModel &original,
                                                      const Progress &progress) const
{
    auto restored = rewrite::restoreParameters(model, original.model, progress);
    if (!restored.ok())
        return inFile(std::move(restored).error(),
                      original.paramsPath.empty() ? original.modelPath : original.paramsPath);
    return restored;
}

namespace {

/// Runtimes refuse a model whose outputs come in other types than it says.
Result<void> checkOutputTypes(const io::LoadedModel &source, const walks::RunOutcome &outcome)
{
    for (std::size_t k = 0; k < outcome.outputs.size(); ++k) {
        const tensor::DType declared = io::declaredOutputType(source, k);
        const tensor::DType given = outcome.outputs[k].tensor.dtype();
        if (declared != tensor::DType::Unknown && given != declared)
            return badInput(outcome.outputs[k].name, "an output of " + std::string(tensor::nameOf(given)),
                            std::string(tensor::nameOf(declared)) + ", as declared by the model");
    }
    return {};
}

} // namespace

Result<walks::RunOutcome> Session::run(const walks::RunSettings &settings, const Progress &progress) const
{
    auto outcome = walks::runModel(m_source->model, m_source->modelPath, settings, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    if (auto asDeclared = settings.allNodes ? Result<void>() : checkOutputTypes(*m_source, outcome.value());
        !asDeclared.ok())
        return located(std::move(asDeclared).error());
    return outcome;
}

/// What concerns no file of its own concerns the model; a bad call concerns the caller.
Error Session::located(Error error) const
{
    if ((error.code == Errc::BadInput || error.code == Errc::Unsupported) && error.field == Field::None)
        return inFile(std::move(error), m_source->modelPath);
    return error;
}

Result<walks::CompareOutcome> Session::compare(const mixed::ConvertedModel &converted,
                                               const walks::CompareOptions &options,
                                               const Progress &progress) const
{
    HALFTONE_TRY(compare::ComparedModels models, comparedPair(m_source->model, converted, progress));
    auto outcome = walks::compareModels(std::move(models), m_source->modelPath, options, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    outcome.value().warnings = converted.warnings;
    return outcome;
}

Result<walks::CompareOutcome> Session::compareAgainst(const std::string &path,
                                                      const walks::CompareOptions &options,
                                                      const Progress &progress) const
{
    HALFTONE_TRY(const io::LoadedModel other, openModel(path, {.stop = progress.stop}));
    return compareWith(other, options, progress);
}

Result<walks::CompareOutcome> Session::compareWith(const io::LoadedModel &other,
                                                   const walks::CompareOptions &options,
                                                   const Progress &progress) const
{
    auto models = compare::pairByName(m_source->model, other.model);
    if (!models.ok())
        return inFile(std::move(models).error(), other.modelPath);
    auto outcome = walks::compareModels(std::move(models).value(), m_source->modelPath, options, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    HALFTONE_TRY(outcome.value().warnings, warningsOf(other.model));
    return outcome;
}

Result<walks::CompareOutcome> Session::compareBackends(const walks::CompareOptions &options,
                                                       const Progress &progress) const
{
    HALFTONE_TRY(compare::ComparedModels models, compare::pairByName(m_source->model, m_source->model));
    auto outcome = walks::compareModels(std::move(models), m_source->modelPath, options, progress);
    return outcome.ok() ? std::move(outcome)
                        : Result<walks::CompareOutcome>(located(std::move(outcome).error()));
}

Result<walks::CalibrateOutcome> Session::calibrate(const walks::CalibrateOptions &options,
                                                   const Progress &progress) const
{
    auto outcome = walks::calibrateModel(m_source->model, m_source->modelPath, options, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

Result<walks::QuantizeOutcome> Session::quantize(const walks::QuantizeSettings &settings,
                                                 const Progress &progress) const
{
    auto outcome = walks::quantizeModel(m_source->model, m_source->modelPath, settings, progress);
    if (!outcome.ok())
        return located(std::move(outcome).error());
    return outcome;
}

Result<std::vector<std::string>> Session::write(const graph::Model &model, const std::string &prefix) const
{
    HALFTONE_TRY(const io::ModelOutput output,
                 io::ModelOutput::claim(prefix, io::outputFormat(prefix, model.graph)));
    return io::saveModel(model, output, *m_source, writtenTypes(output.format(), model));
}

Result<std::vector<std::string>> Session::write(const graph::Model &model, const io::ModelOutput &output,
                                                const std::map<std::string, tensor::DType> &inputTypes) const
{
    auto written = session::inFormatOf(output, model, m_inputShapes, inputTypes);
    if (!written.ok())
        return located(std::move(written).error());
    return io::saveModel(written.value(), output, *m_source, writtenTypes(output.format(), written.value()));
}

} // namespace halftone::session
