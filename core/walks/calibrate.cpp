#include "core/walks/calibrate.h"

#include "core/backends/backends.h"
#include "core/base/process_memory.h"
#include "core/base/progress_part.h"
#include "core/base/share_work.h"
#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/traverse.h"
#include "core/policy/pattern.h"
#include "core/tensor/elements.h"
#include "core/walks/layer_choice.h"
#include "core/walks/walk_examples.h"
#include "core/walks/work_pool.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace halftone::walks {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::Tensor;

/// The names that a person asked for.
class TensorChoice
{
public:
    static Result<TensorChoice> read(const std::vector<std::string> &patterns,
                                     const std::vector<std::string> &names)
    {
        TensorChoice choice;
        choice.m_names.insert(names.begin(), names.end());
        for (const std::string &text : patterns) {
            const bool isWrapped = text.size() > 1 && text.starts_with('/') && text.ends_with('/');
            auto pattern = policy::Pattern::compile(
                isWrapped ? std::string_view(text).substr(1, text.size() - 2) : std::string_view(text));
            if (!pattern.ok())
                return badCall(Field::Layers, '"' + text + "\": " + pattern.error().message(),
                               "a valid pattern");
            choice.m_patterns.push_back(std::move(pattern).value());
        }
        return choice;
    }

    bool takes(const std::string &name) const
    {
        if (!m_names.empty())
            return m_names.contains(name);
        return m_patterns.empty() || std::ranges::any_of(m_patterns, [&](const policy::Pattern &pattern) {
                   return pattern.matches(name);
               });
    }

private:
    std::vector<policy::Pattern> m_patterns;
    std::unordered_set<std::string> m_names;
};

/// Shows the values in place where they are float32 already, which nearly all are.
template <class See>
void seeFloats(const Tensor &tensor, See &&see)
{
    const std::byte *const bytes = tensor.bytes().data();
    const std::size_t count = tensor.elementCount();
    if (tensor.dtype() == tensor::DType::F32
        && reinterpret_cast<std::uintptr_t>(bytes) % alignof(float) == 0) {
        see(std::span(reinterpret_cast<const float *>(bytes), count));
        return;
    }
    std::vector<float> values(count);
    tensor::widen(tensor.dtype(), bytes, count, values.data());
    see(std::span<const float>(values));
}

/// Which tensors are collected, and what is known of them before any value comes.
class TensorList
{
public:
    TensorList(const graph::Model &model, TensorChoice choice)
        : m_model(model)
        , m_choice(std::move(choice))
    {
        m_stored = dialect::storedArrays(m_model);
    }

    /// Nothing when nobody asked for it.
    std::optional<calibration::CalibratedTensor> tensorOf(const Entry &entry, const Tensor &value,
                                                          bool isParameter) const
    {
        if (!tensor::isFloat(value.dtype()))
            return std::nullopt;
        std::string name = dialect::of(m_model.graph).entryName(m_model.graph, entry);
        if (!m_choice.takes(name))
            return std::nullopt;
        const graph::NodeDef &node = m_model.graph.node(entry.node);
        return calibration::CalibratedTensor{std::move(name), node.name, node.op, isParameter, {}};
    }

    /// Those that are used.
    std::vector<std::pair<NodeId, Tensor>> parameters() const
    {
        std::vector<std::pair<NodeId, Tensor>> parameters;
        for (const NodeId id : graph::postOrder(m_model.graph)) {
            const tensor::Array *const array = m_model.graph.isVariable(id) ? stored(id) : nullptr;
            if (array != nullptr && array->storage == tensor::Storage::Dense && array->shape.hasRank())
                parameters.emplace_back(id, array->values);
        }
        return parameters;
    }

    /// Of weights of products, by node.
    std::map<NodeId, std::vector<calibration::ChannelRange>> channels() const
    {
        std::map<NodeId, std::vector<calibration::ChannelRange>> channels;
        for (NodeId id = 0; id < m_model.graph.nodeCount(); ++id) {
            const auto inputs = m_model.graph.inputs(id);
            const auto axis = inputs.size() > 1 ? channelAxis(id) : std::nullopt;
            const tensor::Array *const array = axis ? stored(inputs[1].node) : nullptr;
            if (array != nullptr && array->shape.rank() > *axis)
                channels[inputs[1].node] = channelsOf(*array, *axis);
        }
        return channels;
    }

private:
    const tensor::Array *stored(NodeId id) const
    {
        const auto found = m_stored.find(m_model.graph.node(id).name);
        return found == m_stored.end() ? nullptr : found->second;
    }

    /// The axis of a weight that counts output channels.
    std::optional<std::size_t> channelAxis(NodeId id) const
    {
        const auto op = dialect::of(m_model.graph).read(m_model.graph.node(id));
        if (!op.ok())
            return std::nullopt;
        if (op.value().is<ops::Conv>() || op.value().is<ops::FullyConnected>())
            return 0;
        return op.value().is<ops::ConvTranspose>() ? std::optional<std::size_t>(1) : std::nullopt;
    }

    static std::vector<calibration::ChannelRange> channelsOf(const tensor::Array &array, std::size_t axis)
    {
        const auto dims = array.shape.dims();
        const auto product = [](std::span<const std::int64_t> part) {
            std::size_t all = 1;
            for (const std::int64_t dim : part)
                all *= static_cast<std::size_t>(dim);
            return all;
        };
        std::vector<calibration::ChannelRange> ranges;
        seeFloats(array.values, [&](std::span<const float> values) {
            ranges = calibration::channelRanges(values, product(dims.first(axis)),
                                                static_cast<std::size_t>(dims[axis]),
                                                product(dims.subspan(axis + 1)));
        });
        return ranges;
    }

    const graph::Model &m_model;
    TensorChoice m_choice;
    dialect::StoredArrays m_stored;
};

using Place = std::pair<NodeId, std::uint32_t>;

/// Of the collectors of all tensors, one made when its first value comes. Safe from any thread.
template <class Collector>
class Collectors
{
public:
    struct Collected
    {
        calibration::CalibratedTensor tensor;
        Collector collector;
        std::mutex mutex;
    };

    Collectors(const TensorList &list, calibration::Detail detail)
        : m_list(list)
        , m_detail(detail)
    {
    }

    /// Null for a tensor that nobody asked for.
    Collected *of(const Entry &entry, const Tensor &value, bool isParameter = false)
    {
        const std::lock_guard lock(m_mutex);
        const Place place(entry.node, entry.output);
        if (const auto found = m_tensors.find(place); found != m_tensors.end())
            return found->second.get();
        auto tensor = m_list.tensorOf(entry, value, isParameter);
        if (!tensor)
            return nullptr;
        auto made = std::make_unique<Collected>();
        made->tensor = *std::move(tensor);
        made->collector = Collector(m_detail);
        return m_tensors.emplace(place, std::move(made)).first->second.get();
    }

    bool has(NodeId node) const { return m_tensors.contains({node, 0}); }

    /// In the graph's order, with the ranges of channels. Needs: nobody collects any more.
    std::vector<Collected *> all()
    {
        for (auto &[node, channels] : m_list.channels()) {
            if (const auto found = m_tensors.find({node, 0}); found != m_tensors.end())
                found->second->tensor.channels = std::move(channels);
        }
        std::vector<Collected *> all;
        for (auto &[place, collected] : m_tensors)
            all.push_back(collected.get());
        return all;
    }

private:
    const TensorList &m_list;
    calibration::Detail m_detail;
    std::mutex m_mutex; ///< of the map, not of what it holds
    std::map<Place, std::unique_ptr<Collected>> m_tensors;
};

calibration::Detail detailOf(const CalibrateOptions &options)
{
    return options.rangesOnly ? calibration::Detail::Ranges : calibration::Detail::Formats;
}

/// Parameters are quantized by their largest magnitude, whatever the method is.
void chooseThreshold(calibration::CalibratedTensor &tensor, calibration::ThresholdOptions threshold,
                     const std::stop_token &stop)
{
    if (tensor.isParameter)
        threshold.method = calibration::ThresholdMethod::MinMax;
    tensor.threshold = calibration::chooseThreshold(tensor.statistics, threshold, stop);
}

Error noTensor()
{
    return badCall(Field::Layers, "no tensor name matches", "a pattern for tensor names");
}

/// MXNet's way.
class BatchCollection
{
public:
    BatchCollection(const graph::Model &model, const CalibrateOptions &options, const TensorList &list)
        : m_model(model)
        , m_list(list)
        , m_threshold(options.threshold)
        , m_collectors(list, detailOf(options))
        , m_pool(threadsFor(options.threads), WorkPool::Priority::Low)
    {
    }

    Result<CalibrateOutcome> run(const std::string &modelPath, const CalibrateOptions &options,
                                 const Progress &progress)
    {
        // What is complete need not wait for the rest of the walk, whose end leaves threads idle.
        const ExampleViewer viewer = [&](const Entry &entry, const Tensor &value, bool isLast) {
            Collected *const collected = m_collectors.of(entry, value);
            if (collected == nullptr)
                return;
            // In one piece, since the first batch as a whole settles the histogram's range.
            seeFloats(value, [&](std::span<const float> values) { collected->collector.add(values); });
            if (isLast)
                submit(*collected, progress.stop);
        };
        CalibrateOutcome outcome;
        HALFTONE_TRY(outcome.examples, walkExamples(m_model, modelPath, options, viewer, progress));
        addParameters(progress.stop);
        HALFTONE_CHECK(m_pool.wait());
        HALFTONE_CHECK(progress.checkStop());
        for (Collected *const collected : m_collectors.all())
            outcome.tensors.push_back(std::move(collected->tensor));
        if (outcome.tensors.empty())
            return noTensor();
        return outcome;
    }

private:
    using Collected = Collectors<calibration::Collector>::Collected;

    void submit(Collected &collected, const std::stop_token &stop)
    {
        m_pool.submit([this, &collected, stop] {
            collected.tensor.statistics = collected.collector.statistics();
            collected.collector = calibration::Collector(); // which takes next to nothing
            chooseThreshold(collected.tensor, m_threshold, stop);
            return Result<void>();
        });
    }

    /// Weights once, not once a batch.
    void addParameters(const std::stop_token &stop)
    {
        for (const auto &[id, values] : m_list.parameters()) {
            if (m_collectors.has(id)) // fed in its place
                continue;
            if (Collected *const collected = m_collectors.of({id, 0, 0}, values, true)) {
                seeFloats(values, [&](std::span<const float> all) { collected->collector.add(all); });
                submit(*collected, stop);
            }
        }
    }

    const graph::Model &m_model;
    const TensorList &m_list;
    calibration::ThresholdOptions m_threshold;
    Collectors<calibration::Collector> m_collectors;
    WorkPool m_pool; ///< last: its work uses the others
};

using EachCollectors = Collectors<calibration::MergingCollector>;

void addExample(EachCollectors &collectors, const Entry &entry, const Tensor &value, bool isParameter)
{
    EachCollectors::Collected *const collected = collectors.of(entry, value, isParameter);
    if (collected == nullptr)
        return;
    seeFloats(value, [&](std::span<const float> values) {
        const std::lock_guard lock(collected->mutex);
        collected->collector.addExample(values);
    });
}

/// What is known already is taken over; what is not is known from then on.
Result<void> addParameters(EachCollectors &collectors, const TensorList &list, unsigned threads,
                           ParameterCollectors *known, const Progress &progress)
{
    std::vector<std::pair<NodeId, Tensor>> parameters = list.parameters();
    std::erase_if(parameters, [&](const auto &one) { return collectors.has(one.first); }); // fed in its place
    const auto takeOver = [&](const std::pair<NodeId, Tensor> &one) {
        const auto found = known->find(one.first);
        if (found == known->end())
            return false;
        if (EachCollectors::Collected *const collected = collectors.of({one.first, 0, 0}, one.second, true))
            collected->collector = found->second;
        return true;
    };
    if (known != nullptr)
        std::erase_if(parameters, takeOver);
    shareParts(threads, parameters.size(), [&](std::size_t k, unsigned) {
        addExample(collectors, {parameters[k].first, 0, 0}, parameters[k].second, true);
        return !progress.stopped();
    });
    HALFTONE_CHECK(progress.checkStop());
    if (known == nullptr)
        return {};
    for (const auto &[id, values] : parameters)
        if (const EachCollectors::Collected *const collected = collectors.of({id, 0, 0}, values, true))
            known->emplace(id, collected->collector);
    return {};
}

} // namespace

Result<CollectedStatistics> collectStatistics(const graph::Model &model, const std::string &modelPath,
                                              const CalibrateOptions &options, const Progress &progress,
                                              ParameterCollectors *known)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_TRY(TensorChoice choice, TensorChoice::read(options.layers, options.tensors));
    const TensorList list(model, std::move(choice));
    EachCollectors collectors(list, detailOf(options));
    const EachViewer viewer
        = [&](const Entry &entry, const Tensor &value) { addExample(collectors, entry, value, false); };
    HALFTONE_TRY(const WalkedExamples walked, walkEachExample(model, modelPath, options, viewer, progress));
    HALFTONE_CHECK(addParameters(collectors, list, threadsFor(options.threads), known, progress));
    CollectedStatistics statistics;
    const auto all = collectors.all();
    statistics.tensors.reserve(
        all.size()); // some 10 kB each: what grows by doubling has thrice that for a moment
    for (EachCollectors::Collected *const collected : all)
        statistics.tensors.push_back({std::move(collected->tensor), std::move(collected->collector)});
    if (statistics.tensors.empty())
        return noTensor();
    statistics.examples = walked.examples;
    statistics.all = walked.all;
    statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return statistics;
}

Result<CalibrateOutcome> calibrated(const CollectedStatistics &statistics,
                                    const calibration::ThresholdOptions &threshold, unsigned threads,
                                    const Progress &progress)
{
    CalibrateOutcome outcome;
    outcome.examples = statistics.examples;
    outcome.seconds = statistics.seconds;
    outcome.tensors.resize(statistics.tensors.size());
    shareParts(threadsFor(threads), outcome.tensors.size(), [&](std::size_t k, unsigned) {
        outcome.tensors[k] = statistics.tensors[k].tensor;
        outcome.tensors[k].statistics = statistics.tensors[k].collector.statistics();
        chooseThreshold(outcome.tensors[k], threshold, progress.stop);
        return !progress.stopped();
    });
    HALFTONE_CHECK(progress.checkStop());
    return outcome;
}

namespace {

/// What minmax and mse cost at the layers' outputs, and in the place of mse the better one.
Result<void> takeBest(const graph::Model &model, const std::string &modelPath,
                      const CalibrateOptions &options, std::span<calibration::CalibratedTensor> tensors,
                      const Progress &progress)
{
    HALFTONE_CHECK(compareAtOutputs(model, modelPath, options, tensors, progress));
    if (options.threshold.method != calibration::ThresholdMethod::Mse)
        return {};
    calibration::ThresholdOptions minMax = options.threshold;
    minMax.method = calibration::ThresholdMethod::MinMax;
    for (calibration::CalibratedTensor &tensor : tensors)
        if (tensor.atOutputs == minMax.method)
            tensor.threshold = calibration::chooseThreshold(tensor.statistics, minMax, progress.stop);
    return {};
}

} // namespace

Result<CalibrateOutcome> calibrateModel(const graph::Model &model, const std::string &modelPath,
                                        const CalibrateOptions &options, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    CalibrateOutcome outcome;
    const bool weighs = options.weighsOutputs && options.shard.isWhole();
    const double collecting = weighs ? 0.5 : 1; // of the whole
    const Progress part = partOf(progress, 0, collecting);
    if (options.asBatches) {
        HALFTONE_TRY(TensorChoice choice, TensorChoice::read(options.layers, options.tensors));
        const TensorList list(model, std::move(choice));
        BatchCollection collection(model, options, list);
        HALFTONE_TRY(outcome, collection.run(modelPath, options, part));
    } else {
        HALFTONE_TRY(const CollectedStatistics statistics,
                     collectStatistics(model, modelPath, options, part));
        HALFTONE_TRY(outcome, calibrated(statistics, options.threshold, options.threads, part));
    }
    const std::span<calibration::CalibratedTensor> tensors = outcome.tensors;
    if (weighs)
        HALFTONE_CHECK(
            takeBest(model, modelPath, options, tensors, partOf(progress, collecting, 1 - collecting)));
    returnFreedMemory(); // what was collected is several times what came of it
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace halftone::walks
