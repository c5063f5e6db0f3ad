#include "core/walks/layer_choice.h"

#include "core/backends/backends.h"
#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/interpret/interpreter.h"
#include "core/quantize/pairs.h"
#include "core/walks/batch_walk.h"
#include "core/walks/independent_examples.h"
#include "core/walks/quantize.h"
#include "core/walks/value_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::walks {
namespace {

using calibration::CalibratedTensor;
using calibration::CodeType;
using calibration::ThresholdMethod;
using graph::Entry;
using graph::NodeId;
using tensor::Tensor;

/// As many examples tell; the layers are computed twice more for each.
constexpr std::size_t kMostExamples = 4;
/// minmax is taken where it costs less than this part of mse: small differences between layers alone say nothing of the whole network
/// (tests/bench/int8_outputs.py: chosen by any difference, outputs lose up to 0.8 dB to mse; so, none does, and up to 0.5 dB are won).
constexpr double kClearly = 0.7;
constexpr std::array kWeighed{ThresholdMethod::MinMax, ThresholdMethod::Mse};

/// Of a layer's output, over examples.
struct Costs
{
    std::array<double, kWeighed.size()> noise{}; ///< Σ d², by method
    double power = 0; ///< Σ y²
};

quantize::QuantizedCodes codesFor(CodeType type)
{
    return type == CodeType::Int8 ? quantize::QuantizedCodes::Int8
        : type == CodeType::Uint8 ? quantize::QuantizedCodes::UInt8
                                  : quantize::QuantizedCodes::Auto;
}

/// What either method makes of a tensor; nothing where both are the same.
std::optional<std::vector<ValueCodes>> codesOf(const CalibratedTensor &tensor, CodeType type, bool inPairs)
{
    std::vector<ValueCodes> codes;
    std::vector<double> thresholds;
    for (const ThresholdMethod method : kWeighed) {
        std::array<CalibratedTensor, 1> one{tensor};
        one[0].threshold = calibration::chooseThreshold(tensor.statistics, {method, type});
        thresholds.push_back(one[0].threshold.value);
        quantize::QuantizedRanges ranges = calibratedRanges(one);
        if (inPairs)
            cutToValues(one, ranges);
        codes.emplace_back(ranges.at(tensor.name), codesFor(type), inPairs);
    }
    return thresholds[0] == thresholds[1] || thresholds[0] == 0 ? std::nullopt
                                                                : std::optional(std::move(codes));
}

/// An input of a layer that becomes codes.
struct LayerInput
{
    std::size_t input = 0;
    std::size_t tensor = 0; ///< of those that are calibrated
    std::size_t place = 0; ///< among all inputs of layers
};

class LayerWeighing
{
public:
    LayerWeighing(const graph::Model &model, const CalibrateOptions &options,
                  std::span<CalibratedTensor> tensors)
        : m_model(model)
        , m_graph(model.graph)
        , m_dialect(dialect::of(model.graph))
        , m_forms(dialect::codedPairsOf(m_dialect))
        , m_options(options)
        , m_tensors(tensors)
        , m_codes(tensors.size())
        , m_readers(model.graph.nodeCount())
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            for (const Entry &entry : m_graph.inputs(id))
                m_readers[entry.node].push_back(id);
        for (const Entry &head : m_graph.heads())
            m_readers[head.node].push_back(kHead);
        m_stored = dialect::storedArrays(model);
        std::unordered_map<std::string_view, std::size_t> byName;
        for (std::size_t k = 0; k < tensors.size(); ++k)
            if (!tensors[k].isParameter)
                byName.emplace(tensors[k].name, k);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            findLayer(id, byName);
    }

    bool hasLayers() const { return !m_layers.empty(); }

    /// Layers alone, for the examples of one thread; nothing: only the whole network says what some inputs of it are.
    using LayersAlone = std::map<NodeId, std::optional<interpret::Interpreter>>;

    /// One example's part. Safe from any thread.
    Result<void> weigh(interpret::Interpreter &interpreter, LayersAlone &alone, const interpret::Feed &feed,
                       std::vector<Costs> &costs, const Progress &progress) const
    {
        costs.assign(m_places.size(), Costs());
        HALFTONE_TRY(interpret::Execution run, interpreter.start(feed, interpret::Prepare::WhenComputed));
        while (!run.isDone()) {
            const auto layer = m_layers.find(run.node());
            std::vector<Tensor> inputs;
            if (layer != m_layers.end())
                inputs = run.inputs();
            HALFTONE_TRY(const interpret::NodeValue value, run.step({progress.stop, {}}));
            if (layer != m_layers.end() && value.outputs[0].dtype() == tensor::DType::F32)
                HALFTONE_CHECK(weighLayer(value.node, layer->second, inputs, alone, costs));
        }
        return {};
    }

    void choose(std::span<const std::vector<Costs>> examples)
    {
        std::vector<Costs> all(m_places.size());
        for (const std::vector<Costs> &one : examples) {
            for (std::size_t k = 0; k < one.size(); ++k) {
                all[k].power += one[k].power;
                for (std::size_t m = 0; m < kWeighed.size(); ++m)
                    all[k].noise[m] += one[k].noise[m];
            }
        }
        std::map<std::size_t, std::array<double, kWeighed.size()>> byTensor;
        for (std::size_t k = 0; k < all.size(); ++k) {
            if (!(all[k].power > 0))
                continue;
            auto &sums = byTensor[m_places[k]];
            for (std::size_t m = 0; m < kWeighed.size(); ++m)
                sums[m] += all[k].noise[m] / all[k].power;
        }
        for (const auto &[tensor, sums] : byTensor)
            m_tensors[tensor].atOutputs = sums[0] < kClearly * sums[1] ? kWeighed[0] : kWeighed[1];
    }

private:
    static constexpr NodeId kHead = std::numeric_limits<NodeId>::max();

    void findLayer(NodeId id, const std::unordered_map<std::string_view, std::size_t> &byName)
    {
        const auto op = m_graph.isVariable(id) ? Result<ops::Operator>(ops::Operator())
                                               : m_dialect.readKind(m_graph.node(id));
        if (!op.ok()
            || !(op.value().is<ops::Conv>() || op.value().is<ops::FullyConnected>()
                 || op.value().is<ops::MatMul>() || op.value().is<ops::Gemm>()))
            return;
        const auto inputs = m_graph.inputs(id);
        const std::size_t factors = op.value().is<ops::MatMul>() || op.value().is<ops::Gemm>() ? 2 : 1;
        std::vector<LayerInput> found;
        for (std::size_t k = 0; k < std::min(factors, inputs.size()); ++k) {
            const auto tensor = tensorOf(inputs[k], byName);
            if (!tensor || !codesOf(*tensor))
                continue;
            found.push_back({k, *tensor, m_places.size()});
            m_places.push_back(*tensor);
        }
        if (!found.empty())
            m_layers.emplace(id, std::move(found));
    }

    /// The calibrated tensor whose range the codes of a value have.
    std::optional<std::size_t> tensorOf(Entry entry,
                                        const std::unordered_map<std::string_view, std::size_t> &byName) const
    {
        for (;;) {
            const auto found = byName.find(m_dialect.entryName(m_graph, entry));
            if (found != byName.end())
                return found->second;
            const bool isMoved = m_forms != nullptr && !m_graph.isVariable(entry.node)
                && m_forms->supportOf(m_graph.node(entry.node)) == dialect::CodedSupport::Moves;
            if (!isMoved)
                return std::nullopt;
            entry = m_graph.inputs(entry.node)[0];
        }
    }

    /// Fills in what is asked for. Gives whether there is a choice.
    bool codesOf(std::size_t tensor)
    {
        auto &[isKnown, codes] = m_codes[tensor];
        if (!isKnown)
            codes = walks::codesOf(m_tensors[tensor], m_options.threshold.codes, m_forms != nullptr);
        isKnown = true;
        return codes.has_value();
    }

    /// The function that alone reads a node's value, and nothing else that is not stored; nothing where there is none.
    std::optional<NodeId> functionBehind(NodeId id) const
    {
        if (m_readers[id].size() != 1 || m_readers[id].front() == kHead)
            return std::nullopt;
        const NodeId next = m_readers[id].front();
        const auto inputs = m_graph.inputs(next);
        const bool readsNoMore
            = inputs[0].node == id && std::ranges::all_of(inputs.subspan(1), [this](const Entry &entry) {
                  return storedOf(entry.node) != nullptr || isConstant(entry.node);
              });
        const auto op = m_dialect.readKind(m_graph.node(next));
        const bool isFunction = op.ok()
            && (op.value().is<ops::BatchNormalization>() || op.value().is<ops::Activation>()
                || op.value().is<ops::Unary>() || op.value().is<ops::LeakyRelu>()
                || op.value().is<ops::Clip>() || op.value().is<ops::ClipBetween>()
                || op.value().is<ops::ScalarBinary>());
        return readsNoMore && isFunction ? std::optional(next) : std::nullopt;
    }

    bool isConstant(NodeId id) const { return !m_graph.isVariable(id) && m_graph.inputs(id).empty(); }

    /// A layer alone, with its normalization and activation: its data are fed, its parameters are those of the model.
    Result<interpret::Interpreter> layerAlone(NodeId id) const
    {
        graph::Model alone;
        alone.graph = graph::Graph::like(m_graph);
        alone.hasParameters = true;
        std::unordered_map<NodeId, NodeId> copies;
        NodeId last = 0;
        for (std::optional<NodeId> node = id; node; node = functionBehind(*node)) {
            std::vector<Entry> inputs;
            for (std::size_t k = 0; k < m_graph.inputs(*node).size(); ++k) {
                const Entry &entry = m_graph.inputs(*node)[k];
                const tensor::Array *const stored = storedOf(entry.node);
                const auto [copy, isNew] = copies.try_emplace(entry.node, last);
                if (isNew && (stored != nullptr || isConstant(entry.node))) {
                    copy->second = alone.graph.add(m_graph.sharedNode(entry.node), {});
                    if (stored != nullptr)
                        alone.parameters.push_back(*stored);
                } else if (*node == id && stored == nullptr && !isConstant(entry.node)) {
                    copies.erase(copy); // each is fed by itself
                    inputs.push_back({alone.graph.add(m_dialect.makeVariable(inputName(k)), {}), 0, 0});
                    continue;
                }
                inputs.push_back({copy->second, entry.output, 0});
            }
            last = alone.graph.add(m_graph.sharedNode(*node), inputs);
            copies[*node] = last;
        }
        alone.graph.setHeads({{last, 0, 0}});
        HALFTONE_TRY(kernels::BackendChain backends, backends::backendChain(m_options.backend, 1));
        return interpret::Interpreter::create(alone, std::move(backends));
    }

    const tensor::Array *storedOf(NodeId id) const
    {
        const auto found = m_graph.isVariable(id) ? m_stored.find(m_graph.node(id).name) : m_stored.end();
        return found == m_stored.end() ? nullptr : found->second;
    }

    static std::string inputName(std::size_t k) { return "layer_input_" + std::to_string(k); }

    Result<void> weighLayer(NodeId id, const std::vector<LayerInput> &layer, std::span<const Tensor> inputs,
                            LayersAlone &layersAlone, std::vector<Costs> &costs) const
    {
        const auto [at, isNew] = layersAlone.try_emplace(id);
        if (isNew)
            if (auto made = layerAlone(id); made.ok())
                at->second = std::move(made).value();
        if (!at->second)
            return {};
        interpret::Interpreter &alone = *at->second;
        interpret::Feed feed;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const NodeId from = m_graph.inputs(id)[k].node;
            if (storedOf(from) == nullptr && !isConstant(from))
                feed.emplace(inputName(k), inputs[k]);
        }
        HALFTONE_TRY(const std::vector<Tensor> output, alone.run(feed));
        const std::vector<float> want = output[0].values<float>();
        double power = 0;
        for (const float value : want)
            power += double{value} * double{value};
        if (!std::isfinite(power))
            return {};
        for (const LayerInput &one : layer) {
            if (inputs[one.input].dtype() != tensor::DType::F32 || !feed.contains(inputName(one.input)))
                continue;
            for (std::size_t m = 0; m < kWeighed.size(); ++m) {
                interpret::Feed coded = feed;
                coded[inputName(one.input)] = inCodes(inputs[one.input], (*m_codes[one.tensor].second)[m]);
                HALFTONE_TRY(const std::vector<Tensor> got, alone.run(coded));
                costs[one.place].noise[m] += noiseOf(got[0].values<float>(), want);
            }
            costs[one.place].power += power;
        }
        return {};
    }

    static Tensor inCodes(const Tensor &values, const ValueCodes &codes)
    {
        std::vector<float> coded = values.values<float>();
        for (float &value : coded)
            value = static_cast<float>(codes.decoded(value));
        const auto bytes = std::as_bytes(std::span(coded));
        return Tensor::owning(tensor::DType::F32, values.shape(), {bytes.begin(), bytes.end()});
    }

    static double noiseOf(std::span<const float> got, std::span<const float> want)
    {
        double noise = 0;
        for (std::size_t k = 0; k < std::min(got.size(), want.size()); ++k) {
            const double error = double{got[k]} - double{want[k]};
            noise += error * error;
        }
        return noise;
    }

    const graph::Model &m_model;
    const graph::Graph &m_graph;
    const dialect::Dialect &m_dialect;
    const dialect::CodedPairs *m_forms;
    const CalibrateOptions &m_options;
    std::span<CalibratedTensor> m_tensors;
    std::vector<std::pair<bool, std::optional<std::vector<ValueCodes>>>>
        m_codes; ///< by tensor: known, and by method
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId
    dialect::StoredArrays m_stored;
    std::map<NodeId, std::vector<LayerInput>> m_layers;
    std::vector<std::size_t> m_places; ///< the tensors of all inputs of layers
};

/// Batches that are evenly spread over all.
std::vector<std::size_t> spread(const Batches &batches)
{
    std::vector<std::size_t> chosen;
    const std::size_t count = std::min(batches.count, kMostExamples);
    for (std::size_t k = 0; k < count; ++k)
        chosen.push_back(k * batches.count / count);
    return chosen;
}

/// As many as run side by side: none where the memory limit does not hold one example.
Result<std::vector<interpret::Interpreter>> workersFor(const graph::Model &model,
                                                       const CalibrateOptions &options,
                                                       const interpret::Feed &example, std::size_t examples)
{
    HALFTONE_TRY(const kernels::BackendChain backends, backends::backendChain(options.backend, 1));
    std::vector<interpret::Interpreter> workers;
    std::size_t most = 1;
    do {
        HALFTONE_TRY(interpret::Interpreter worker, interpret::Interpreter::create(model, backends));
        if (workers.empty()) {
            HALFTONE_TRY(const interpret::Execution run,
                         worker.start(example, interpret::Prepare::WhenComputed));
            const std::size_t each = run.peakBytes() + interpret::feedBytes(example);
            most = std::min({std::size_t{threadsFor(options.threads)}, examples,
                             options.memoryLimit / std::max<std::size_t>(each, 1)});
            if (most == 0)
                break;
        }
        workers.push_back(std::move(worker));
    } while (workers.size() < most);
    return workers;
}

} // namespace

Result<void> compareAtOutputs(const graph::Model &model, const std::string &modelPath,
                              const CalibrateOptions &options, std::span<CalibratedTensor> tensors,
                              const Progress &progress)
{
    HALFTONE_TRY(const graph::Model shared, interpret::withReadableParameters(model));
    LayerWeighing weighing(shared, options, tensors);
    if (!weighing.hasLayers())
        return {};
    HALFTONE_TRY(const auto source, openExamples(options.examples, model, modelPath));
    HALFTONE_TRY(const Batches batches,
                 separateBatches(model, *source, options.backend, options.batch, {}, options.memoryLimit));
    const std::vector<std::size_t> chosen = spread(batches);
    HALFTONE_TRY(const interpret::Feed first, batches.feed(*source, chosen.front()));
    HALFTONE_TRY(std::vector<interpret::Interpreter> workers,
                 workersFor(shared, options, first, chosen.size()));
    if (workers.empty())
        return {};
    std::vector<std::vector<Costs>> costs(chosen.size());
    std::vector<LayerWeighing::LayersAlone> alone(workers.size());
    BatchFailure failure;
    shareParts(static_cast<unsigned>(workers.size()), chosen.size(), [&](std::size_t part, unsigned worker) {
        if (failure.isBefore(part))
            return false;
        Result<void> weighed = guarded([&]() -> Result<void> {
            HALFTONE_CHECK(progress.checkStop());
            HALFTONE_TRY(const interpret::Feed feed, batches.feed(*source, chosen[part]));
            return weighing.weigh(workers[worker], alone[worker], feed, costs[part], progress);
        });
        if (!weighed.ok())
            failure.tell(part, std::move(weighed).error());
        if (worker == 0)
            progress.tell(static_cast<double>(part + 1) / static_cast<double>(chosen.size()),
                          "weighing thresholds at the layers' outputs");
        return true;
    });
    if (failure.error())
        return *failure.error();
    weighing.choose(costs);
    return {};
}

} // namespace halftone::walks
