#include "core/jobs/calibrate.h"

#include "core/backends/backends.h"
#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/jobs/task_pool.h"
#include "core/jobs/walk_examples.h"
#include "core/policy/pattern.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace halftone::jobs {
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
                return badCall(Field::Layers, '"' + text + "\": " + pattern.error().message(), "a pattern");
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

/// In one piece, since the first batch as a whole settles the histogram's range.
void addValues(const Tensor &tensor, calibration::Collector &collector)
{
    seeFloats(tensor, [&](std::span<const float> values) { collector.add(values); });
}

class StatisticsCollection
{
public:
    StatisticsCollection(const graph::Model &model, const CalibrateOptions &options, TensorChoice choice)
        : m_model(model)
        , m_choice(std::move(choice))
        , m_threshold(options.threshold)
        , m_detail(options.rangesOnly ? calibration::Detail::Ranges : calibration::Detail::Formats)
        , m_pool(options.threads > 0 ? options.threads : backends::machineThreads(),
                 TaskPool::Priority::Behind)
    {
    }

    Result<CalibrateOutcome> run(const std::string &modelPath, const CalibrateOptions &options,
                                 const Progress &progress)
    {
        // What is complete need not wait for the rest of the walk, whose end leaves threads idle.
        const ExampleViewer viewer = [&](const Entry &entry, const Tensor &value, bool isLast) {
            Collected *const collected = collectedOf(entry, value, false);
            if (collected == nullptr)
                return;
            addValues(value, collected->collector);
            if (isLast)
                m_pool.submit([this, collected, &progress] {
                    choose(*collected, progress.stop);
                    return Result<void>();
                });
        };
        HALFTONE_TRY(const std::size_t count, walkExamples(m_model, modelPath, options, viewer, progress));
        HALFTONE_CHECK(addParameters(progress));
        HALFTONE_CHECK(m_pool.wait());
        HALFTONE_CHECK(progress.checkStop());
        CalibrateOutcome outcome;
        outcome.examples = count;
        for (auto &[entry, collected] : m_tensors)
            outcome.tensors.push_back(std::move(collected.tensor));
        if (outcome.tensors.empty())
            return badCall(Field::Layers, "no tensor has such a name", "a pattern of tensor names");
        return outcome;
    }

private:
    struct Collected
    {
        calibration::CalibratedTensor tensor;
        calibration::Collector collector;
    };

    /// Once all its values are collected.
    void choose(Collected &collected, const std::stop_token &stop) const
    {
        calibration::CalibratedTensor &tensor = collected.tensor;
        // Parameters are quantized by their largest magnitude, whatever the method is.
        calibration::ThresholdOptions threshold = m_threshold;
        if (tensor.isParameter)
            threshold.method = calibration::ThresholdMethod::MinMax;
        tensor.statistics = collected.collector.statistics();
        collected.collector = calibration::Collector(m_detail); // which takes next to nothing
        tensor.threshold = calibration::chooseThreshold(tensor.statistics, threshold, stop);
    }

    /// Where a tensor's values are collected; null when nobody asked for it.
    Collected *collectedOf(const Entry &entry, const Tensor &value, bool isParameter)
    {
        if (!tensor::isFloat(value.dtype()))
            return nullptr;
        const std::lock_guard lock(m_mutex);
        const auto place = std::pair(entry.node, entry.output);
        auto found = m_tensors.find(place);
        if (found == m_tensors.end()) {
            std::string name = dialect::of(m_model.graph).entryName(m_model.graph, entry);
            if (!m_choice.takes(name))
                return nullptr;
            const graph::NodeDef &node = m_model.graph.node(entry.node);
            found = m_tensors.emplace(place, Collected{{}, calibration::Collector(m_detail)}).first;
            found->second.tensor = {std::move(name), node.name, node.op, isParameter, {}};
        }
        return &found->second;
    }

    /// Weights once, not once a batch.
    Result<void> addParameters(const Progress &progress)
    {
        std::unordered_map<std::string_view, const tensor::Array *> stored;
        for (const tensor::Array &array : m_model.parameters)
            stored.insert_or_assign(dialect::variableOf(m_model.graph, array.name), &array);
        for (const NodeId id : graph::postOrder(m_model.graph)) {
            HALFTONE_CHECK(progress.checkStop());
            const auto array
                = m_model.graph.isVariable(id) ? stored.find(m_model.graph.node(id).name) : stored.end();
            const bool isFed = m_tensors.contains({id, 0}); // in its place
            if (!isFed && array != stored.end() && array->second->storage == tensor::Storage::Dense
                && array->second->shape.hasRank()) {
                const Tensor &values = array->second->values;
                if (Collected *const collected = collectedOf({id, 0, 0}, values, true))
                    m_pool.submit([this, collected, values, &progress] {
                        addValues(values, collected->collector);
                        choose(*collected, progress.stop);
                        return Result<void>();
                    });
            }
        }
        for (NodeId id = 0; id < m_model.graph.nodeCount(); ++id) {
            const auto inputs = m_model.graph.inputs(id);
            if (const auto axis = inputs.size() > 1 ? channelAxis(id) : std::nullopt)
                addChannels(inputs[1], *axis, stored);
        }
        return {};
    }

    /// The axis of a weight that counts output channels.
    std::optional<std::size_t> channelAxis(NodeId id) const
    {
        const auto op = dialect::of(m_model.graph).read(m_model.graph.node(id));
        if (!op.ok())
            return std::nullopt;
        if (op.value().is<ops::Conv>() || op.value().is<ops::FullyConnected>())
            return 0;
        return op.value().is<ops::Deconv>() ? std::optional<std::size_t>(1) : std::nullopt;
    }

    void addChannels(const Entry &weight, std::size_t axis,
                     const std::unordered_map<std::string_view, const tensor::Array *> &stored)
    {
        const auto found = m_tensors.find({weight.node, weight.output});
        const auto array = stored.find(m_model.graph.node(weight.node).name);
        if (found == m_tensors.end() || array == stored.end() || array->second->shape.rank() <= axis)
            return;
        const auto dims = array->second->shape.dims();
        const auto product = [](std::span<const std::int64_t> part) {
            std::size_t all = 1;
            for (const std::int64_t dim : part)
                all *= static_cast<std::size_t>(dim);
            return all;
        };
        seeFloats(array->second->values, [&](std::span<const float> values) {
            found->second.tensor.channels = calibration::channelRanges(values, product(dims.first(axis)),
                                                                       static_cast<std::size_t>(dims[axis]),
                                                                       product(dims.subspan(axis + 1)));
        });
    }

    const graph::Model &m_model;
    TensorChoice m_choice;
    calibration::ThresholdOptions m_threshold;
    calibration::Detail m_detail;
    std::mutex m_mutex; ///< of the map, not of what it holds
    std::map<std::pair<NodeId, std::uint32_t>, Collected> m_tensors;
    TaskPool m_pool; ///< last: its tasks use the others
};

} // namespace

Result<CalibrateOutcome> calibrateModel(const graph::Model &model, const std::string &modelPath,
                                        const CalibrateOptions &options, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_TRY(TensorChoice choice, TensorChoice::read(options.layers, options.tensors));
    StatisticsCollection collection(model, options, std::move(choice));
    HALFTONE_TRY(CalibrateOutcome outcome, collection.run(modelPath, options, progress));
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace halftone::jobs
