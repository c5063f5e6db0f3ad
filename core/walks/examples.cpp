#include "core/walks/examples.h"

#include "core/base/text.h"
#include "core/base/xxh64.h"
#include "core/dialect/dialect.h"
#include "core/interpret/fed_types.h"
#include "core/io/arrays/npz.h"
#include "core/io/pictures/picture.h"
#include "core/io/pictures/preprocess.h"
#include "core/kernels/buffer.h"
#include "core/kernels/join.h"
#include "core/walks/fixed_batch.h"
#include "core/walks/implied_inputs.h"
#include "core/walks/next_tokens.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <unordered_set>

namespace halftone::walks {
namespace {

using tensor::Shape;
using tensor::Tensor;

// Arrays that belong to the examples, not to the model.
constexpr std::string_view kLabels = "labels";
constexpr std::string_view kTargets = "targets"; ///< of examples in memory

Result<std::vector<io::NamedTensor>> arraysOf(const ExampleOptions &options)
{
    return options.arrays ? *options.arrays : io::readNpz(options.inputs);
}

std::unordered_set<std::string_view> variableNames(const graph::Graph &graph)
{
    std::unordered_set<std::string_view> names;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            names.insert(graph.node(id).name);
    }
    return names;
}

/// Tells what the model does take: the names of its weights would help nobody.
Error noSuchInput(const std::string &name, const graph::Model &model, const std::string &modelPath)
{
    std::unordered_set<std::string_view> held;
    for (const tensor::Array &array : model.parameters)
        held.insert(dialect::variableOf(model.graph, array.name));
    std::vector<std::string> inputs;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id)
        if (model.graph.isVariable(id) && !held.contains(model.graph.node(id).name))
            inputs.push_back(model.graph.node(id).name);
    const std::vector<std::string_view> all(inputs.begin(), inputs.end());
    return badInput(name,
                    (modelPath.empty() ? "the model" : modelPath) + ": inputs: no input has this name"
                        + didYouMean(nearestNames(name, all)),
                    inputs.empty() ? std::string("no array, because the model has no inputs")
                                   : "one of its inputs: " + joined(inputs));
}

Result<void> keepFirst(io::Labels &labels, std::size_t examples)
{
    if (labels.examples() < examples)
        return badInput(std::string(kLabels), std::to_string(labels.examples()) + " labels",
                        std::to_string(examples) + ", one for each example");
    labels.classes.resize(examples * labels.perExample);
    return {};
}

/// How pictures become inputs.
std::string rulesPath(const ExampleOptions &options, const std::string &modelPath)
{
    return options.preprocess.empty() ? io::preprocessBeside(modelPath) : options.preprocess;
}

/// Arrays whose first axis counts examples are cut; the others go to every batch whole.
class Arrays final : public ExampleSource
{
public:
    static Result<std::unique_ptr<ExampleSource>>
    open(const ExampleOptions &options, const graph::Model &model, const std::string &modelPath)
    {
        auto source = std::make_unique<Arrays>();
        HALFTONE_TRY(std::vector<io::NamedTensor> arrays, arraysOf(options));
        const auto names = variableNames(model.graph);
        for (io::NamedTensor &array : arrays) {
            const bool isInput = names.contains(array.name);
            if (!isInput && array.name == kLabels) {
                auto labels = io::labelsAmong(arrays);
                if (!labels.ok())
                    return inFile(std::move(labels).error(), options.inputs);
                source->m_labels = std::move(labels).value();
            } else if (!isInput && options.arrays && array.name == kTargets) {
                continue; // taskOf() reads them
            } else if (isInput) {
                const bool isWidened = options.widens && tensor::isHalf(array.tensor.dtype())
                    && interpret::declaredInputType(model.graph, array.name) == tensor::DType::F32;
                if (isWidened) {
                    HALFTONE_TRY(array.tensor, kernels::converted(array.tensor, tensor::DType::F32));
                }
                if (auto fits = interpret::checkFedType(model.graph, array.name, array.tensor.dtype());
                    !fits.ok())
                    return inFile(std::move(fits).error(), options.inputs);
                source->m_arrays.push_back(std::move(array));
            } else {
                return inFile(noSuchInput(array.name, model, modelPath), options.inputs);
            }
        }
        if (!options.labels.empty()) {
            HALFTONE_TRY(source->m_labels, io::readLabels(options.labels));
        }
        HALFTONE_CHECK(source->takeImplied(model, options));
        HALFTONE_CHECK(source->limit(options.examples));
        return std::unique_ptr<ExampleSource>(std::move(source));
    }

    std::optional<std::size_t> count() const override { return m_count; }
    std::size_t usualBatch() const override { return 0; }

    std::vector<std::string> cutInputs() const override
    {
        std::vector<std::string> names;
        for (const io::NamedTensor &array : m_arrays)
            if (isCut(array.tensor))
                names.push_back(array.name);
        return names;
    }

    Result<interpret::Feed> batch(std::size_t first, std::size_t number) const override
    {
        interpret::Feed feed;
        for (const io::NamedTensor &array : m_arrays)
            feed.emplace(array.name,
                         number > 0 && isCut(array.tensor) ? kernels::sliceRows(array.tensor, first, number)
                                                           : array.tensor);
        return feed;
    }

private:
    bool isCut(const Tensor &array) const { return array.shape().rank() > 0 && array.shape()[0] == m_length; }

    Result<void> takeImplied(const graph::Model &model, const ExampleOptions &options)
    {
        if (options.takesNextTokens() && m_labels.areEmpty()) {
            auto next = nextTokens(m_arrays, options.nextToken);
            if (!next.ok())
                return inFile(std::move(next).error(), options.inputs);
            m_labels = std::move(next.value().labels);
            if (options.nextToken.empty())
                m_notes.push_back("no labels: the next token of input " + next.value().input
                                  + " is taken as right");
        }
        HALFTONE_TRY(ImpliedInputs implied, impliedInputs(model, m_arrays));
        std::ranges::move(implied.arrays, std::back_inserter(m_arrays));
        std::ranges::move(implied.notes, std::back_inserter(m_notes));
        return {};
    }

    Result<void> limit(std::size_t examples)
    {
        for (const io::NamedTensor &array : m_arrays) {
            if (m_length < 0 && array.tensor.shape().rank() > 0)
                m_length = array.tensor.shape()[0];
        }
        if (m_length >= 0) {
            m_count = static_cast<std::size_t>(m_length);
            if (examples > 0)
                m_count = std::min(*m_count, examples);
        }
        return m_labels.areEmpty() ? Result<void>() : keepFirst(m_labels, m_count.value_or(0));
    }

    std::vector<io::NamedTensor> m_arrays;
    std::int64_t m_length = -1; ///< of the axis of examples: the first array's first
    std::optional<std::size_t> m_count;
};

class Pictures final : public ExampleSource
{
public:
    static Result<std::unique_ptr<ExampleSource>>
    open(const ExampleOptions &options, const graph::Graph &graph, const std::string &modelPath)
    {
        auto source = std::make_unique<Pictures>();
        const std::string path = rulesPath(options, modelPath);
        if (std::error_code none; options.preprocess.empty() && !std::filesystem::exists(path, none))
            return badCall(Field::Preprocess, "missing, and there is no " + path,
                           "a file that describes how to preprocess pictures");
        HALFTONE_TRY(source->m_rules, io::readPreprocess(path));
        if (!variableNames(graph).contains(source->m_rules.input))
            return inFile(badInput("inputs.name", '"' + source->m_rules.input + '"', "an input of the model"),
                          path);
        source->m_type = interpret::declaredInputType(graph, source->m_rules.input);
        source->m_folder = options.inputs;
        HALFTONE_TRY(source->m_files, io::picturesIn(options.inputs));
        if (!options.labels.empty())
            HALFTONE_CHECK(source->takeLabels(options.labels));
        if (options.examples > 0 && options.examples < source->m_files.size())
            source->m_files.resize(options.examples);
        if (!source->m_labels.areEmpty())
            HALFTONE_CHECK(keepFirst(source->m_labels, source->m_files.size()));
        return std::unique_ptr<ExampleSource>(std::move(source));
    }

    std::optional<std::size_t> count() const override { return m_files.size(); }
    std::size_t usualBatch() const override { return 1; }
    std::vector<std::string> cutInputs() const override { return {m_rules.input}; }
    bool isBgr() const override { return m_rules.color == io::Preprocess::Color::Bgr; }

    Result<interpret::Feed> batch(std::size_t first, std::size_t number) const override
    {
        std::vector<Tensor> tensors;
        for (std::size_t i = first; i < std::min(first + number, m_files.size()); ++i) {
            const std::string path = (std::filesystem::path(m_folder) / m_files[i]).string();
            HALFTONE_TRY(const io::Picture picture, io::readPicture(path));
            auto tensor = io::preprocessed(picture, m_rules);
            if (!tensor.ok())
                return inFile(std::move(tensor).error(), path);
            tensors.push_back(std::move(tensor).value());
        }
        auto joined = kernels::joinRows(tensors);
        if (!joined.ok())
            return inFile(
                orElse(badInput({}, "the pictures of a batch differ in size", "pictures of one size"),
                       Field::Batch, "1"),
                m_folder);
        if (m_type != tensor::DType::Unknown && m_type != joined.value().dtype())
            joined = kernels::converted(joined.value(), m_type);
        if (!joined.ok())
            return std::move(joined).error();
        return interpret::Feed{{m_rules.input, std::move(joined).value()}};
    }

private:
    /// The labels' order is the examples' order.
    Result<void> takeLabels(const std::string &path)
    {
        HALFTONE_TRY(io::Labels labels, io::readLabels(path));
        std::vector<std::string> files = std::move(labels.files);
        m_labels = std::move(labels);
        if (files.empty())
            return {};
        const std::unordered_set<std::string> there(m_files.begin(), m_files.end());
        for (const std::string &file : files) {
            if (!there.contains(file))
                return inFile(badInput("file", '"' + file + '"', "a picture in " + m_folder), path);
        }
        m_files = std::move(files);
        return {};
    }

    std::string m_folder;
    io::Preprocess m_rules;
    tensor::DType m_type = tensor::DType::Unknown; ///< that the model declares for its input
};

} // namespace

Result<std::unique_ptr<ExampleSource>> openExamples(const ExampleOptions &options, const graph::Model &model,
                                                    const std::string &modelPath)
{
    if (std::error_code none; !options.arrays && std::filesystem::is_directory(options.inputs, none))
        return Pictures::open(options, model.graph, modelPath);
    return Arrays::open(options, model, modelPath);
}

const std::string &labelsFile(const ExampleOptions &options)
{
    return options.labels.empty() ? options.inputs : options.labels;
}

namespace {

/// A file, or the pictures of a folder.
void addFiles(const FieldFile &setting, std::vector<FieldFile> &files)
{
    const std::string &path = setting.path;
    if (std::error_code none; !std::filesystem::is_directory(path, none)) {
        if (!path.empty())
            files.push_back(setting);
        return;
    }
    const auto pictures = io::picturesIn(path);
    for (const std::string &name : pictures.ok() ? pictures.value() : std::vector<std::string>())
        files.push_back({setting.field, (std::filesystem::path(path) / name).string(), setting.word});
}

/// Of one example of the first input that has rows and columns.
Result<Shape> inputArea(const ExampleSource &source, const graph::Graph &graph)
{
    HALFTONE_TRY(const interpret::Feed feed, source.batch(0, source.count() ? 1 : 0));
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto found = feed.find(graph.node(id).name);
        const Shape shape = found == feed.end() ? Shape() : found->second.shape();
        if (graph.isVariable(id) && shape.rank() == 4)
            return Shape(std::vector<std::int64_t>{shape.dims().begin() + 1, shape.dims().end()});
    }
    return Shape();
}

} // namespace

std::vector<FieldFile> exampleFiles(const ExampleOptions &options, const std::string &modelPath)
{
    std::vector<FieldFile> files;
    if (std::error_code none; std::filesystem::is_directory(options.inputs, none))
        files.push_back({Field::Preprocess, rulesPath(options, modelPath)});
    if (!options.arrays)
        addFiles({Field::Inputs, options.inputs}, files);
    addFiles({Field::Labels, options.labels}, files);
    addFiles({Field::None, options.targets, "targets"}, files);
    return files;
}

std::uint64_t hashOfArrays(const ExampleOptions &options)
{
    Xxh64 hash;
    for (const io::NamedTensor &array : *options.arrays) {
        const std::string head = array.name + ' ' + std::string(tensor::nameOf(array.tensor.dtype()))
            + array.tensor.shape().toString();
        hash.add(std::as_bytes(std::span(head)));
        hash.add(array.tensor.bytes());
    }
    return hash.value();
}

Result<std::vector<std::pair<std::string, tensor::Shape>>>
shapesOfOne(const ExampleOptions &options, const graph::Model &model, const std::string &modelPath)
{
    HALFTONE_TRY(const auto source, openExamples(options, model, modelPath));
    const std::size_t examples = examplesForShapes(model, *source);
    HALFTONE_TRY(const interpret::Feed feed,
                 examples > 1 ? Batches::filled(*source->count(), examples).feed(*source, 0)
                              : source->batch(0, examples));
    std::vector<std::pair<std::string, tensor::Shape>> shapes;
    for (const auto &[name, tensor] : feed)
        shapes.emplace_back(name, tensor.shape());
    return shapes;
}

Result<std::shared_ptr<const tasks::Task>> taskOf(const ExampleOptions &options, const ExampleSource &source,
                                                  const graph::Graph &graph)
{
    const tasks::JudgedExamples examples{source.count(), source.files(), source.labels(), source.isBgr(),
                                         [&] { return inputArea(source, graph); }};
    std::optional<tasks::Metric> metric = options.metric;
    if (!metric && !options.nextToken.empty())
        metric = tasks::Metric::Perplexity;
    tasks::TaskChoice choice{options.targets, metric};
    if (options.arrays && options.targets.empty()) {
        const auto targets = std::ranges::find(*options.arrays, kTargets, &io::NamedTensor::name);
        if (targets != options.arrays->end() && !variableNames(graph).contains(kTargets))
            choice.array = targets->tensor;
    }
    return tasks::Task::of(choice, examples, graph);
}

} // namespace halftone::walks
