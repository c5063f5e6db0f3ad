#include "core/session/run.h"

#include "core/dialect/mxnet/entry_name.h"
#include "core/runtime/backends.h"
#include "core/runtime/join.h"
#include "core/runtime/random_params.h"
#include "core/runtime/shown_outputs.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <unordered_set>

namespace halftone::session {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::Tensor;
namespace mx = dialect::mxnet;

/// Collects values under their names, batch after batch.
class Outputs
{
public:
    void add(const std::string &name, Tensor value)
    {
        const auto [at, isNew] = m_places.try_emplace(name, m_parts.size());
        if (isNew)
            m_parts.emplace_back(name, std::vector<Tensor>());
        m_parts[at->second].second.push_back(std::move(value));
    }

    Result<std::vector<io::NamedTensor>> join() const
    {
        std::vector<io::NamedTensor> joined;
        for (const auto &[name, parts] : m_parts) {
            auto whole = runtime::joinRows(parts);
            if (!whole.ok())
                return badInput(name, "outputs of the batches that cannot be joined: " + whole.error().found,
                                "a batch of all examples, or --examples 1");
            joined.push_back({name, std::move(whole).value()});
        }
        return joined;
    }

private:
    std::map<std::string, std::size_t> m_places;
    std::vector<std::pair<std::string, std::vector<Tensor>>> m_parts;
};

bool isInsertedCast(const graph::NodeDef &node)
{
    return (node.op == "amp_cast" && node.name.find("_amp_cast_") != std::string::npos)
        || (node.op == "amp_multicast" && node.name.find("amp_multicast") != std::string::npos);
}

} // namespace

std::vector<std::string> sourceOutputNames(const graph::Graph &graph)
{
    std::vector<std::string> names;
    std::unordered_set<std::string> taken;
    for (Entry head : graph.heads()) {
        while (isInsertedCast(graph.node(head.node)) && head.output < graph.inputs(head.node).size())
            head = graph.inputs(head.node)[head.output];
        const std::string name = mx::entryName(graph, head);
        std::string unique = name;
        for (int k = 1; !taken.insert(unique).second; ++k)
            unique = name + '_' + std::to_string(k);
        names.push_back(std::move(unique));
    }
    return names;
}

namespace {

class ModelRun
{
public:
    ModelRun(const graph::Graph &graph, const RunSettings &settings, const ExampleSource &source,
             runtime::Interpreter interpreter)
        : m_graph(graph)
        , m_settings(settings)
        , m_source(source)
        , m_interpreter(std::move(interpreter))
        , m_names(sourceOutputNames(graph))
        , m_shown(runtime::shownOutputs(graph))
        , m_count(source.labels())
    {
    }

    Result<RunOutcome> run(const Progress &progress)
    {
        const std::size_t wanted = m_settings.batch > 0 ? m_settings.batch : m_source.usualBatch();
        const std::size_t count = m_source.count().value_or(0);
        const bool whole = !m_source.count() || (wanted == 0 && m_settings.examples.examples == 0);
        const std::size_t step = whole ? 0 : wanted == 0 ? count : wanted;
        if (!whole && count == 0)
            return badInput("--inputs", "no examples", "one or more");
        const std::size_t batches = whole ? 1 : (count + step - 1) / step;
        const auto load = [&](std::size_t k) {
            return m_source.batch(k * step, std::min(step, whole ? 0 : count - k * step));
        };
        // The next batch is read while this one is computed.
        auto next = std::async(std::launch::async, load, std::size_t{0});
        for (std::size_t k = 0; k < batches; ++k) {
            HALFTONE_TRY(const runtime::Feed feed, next.get());
            if (k + 1 < batches)
                next = std::async(std::launch::async, load, k + 1);
            HALFTONE_CHECK(runBatch(feed, k, batches, k * step, progress));
        }
        m_outcome.batches = batches;
        m_outcome.accuracy = m_count.result();
        HALFTONE_TRY(m_outcome.outputs, m_outputs.join());
        return std::move(m_outcome);
    }

private:
    Result<void> runBatch(const runtime::Feed &feed, std::size_t batch, std::size_t batches,
                          std::size_t first, const Progress &progress)
    {
        runtime::RunOptions options;
        options.progress.stop = progress.stop;
        options.progress.report = [&](double share, std::string_view what) {
            progress.tell((static_cast<double>(batch) + share) / static_cast<double>(batches), what);
        };
        options.tap = [&](const runtime::NodeValue &value) { return tap(value, batch == 0); };
        const auto start = std::chrono::steady_clock::now();
        HALFTONE_TRY(const std::vector<Tensor> heads, m_interpreter.run(feed, options));
        m_outcome.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (std::size_t i = 0; i < heads.size() && !m_settings.allNodes; ++i)
            m_outputs.add(m_names[i], heads[i]);
        if (!heads.empty())
            m_count.add(heads[0], first);
        return {};
    }

    Result<void> tap(const runtime::NodeValue &value, bool firstBatch)
    {
        if (firstBatch)
            ++m_outcome.kernels[std::string(value.kernel)];
        for (std::size_t k = 0;
             m_settings.allNodes && k < std::min(m_shown[value.node], value.outputs.size()); ++k)
            m_outputs.add(runtime::valueName(m_graph, value.node, k), value.outputs[k]);
        return {};
    }

    const graph::Graph &m_graph;
    const RunSettings &m_settings;
    const ExampleSource &m_source;
    runtime::Interpreter m_interpreter;
    std::vector<std::string> m_names;
    std::vector<std::size_t> m_shown;
    AccuracyCount m_count;
    Outputs m_outputs;
    RunOutcome m_outcome;
};

/// The shapes of the first batch, from which those of random parameters follow.
Result<graph::Model> filled(const graph::Model &model, const RunSettings &settings,
                            const ExampleSource &source)
{
    if (!settings.randomParameters)
        return model;
    HALFTONE_TRY(const runtime::Feed feed, source.batch(0, source.usualBatch()));
    std::unordered_map<std::string, tensor::Shape> shapes;
    for (const auto &[name, value] : feed)
        shapes.emplace(name, value.shape());
    return runtime::withRandomParameters(model, shapes, *settings.randomParameters);
}

} // namespace

Result<RunOutcome> runModel(const graph::Model &model, const std::string &symbolPath,
                            const RunSettings &settings, const Progress &progress)
{
    const unsigned threads = settings.threads > 0 ? settings.threads : runtime::machineThreads();
    HALFTONE_TRY(const runtime::BackendChain backends, runtime::backendChain(settings.backend, threads));
    HALFTONE_TRY(const auto source, openExamples(settings.examples, model.graph, symbolPath));
    HALFTONE_TRY(const graph::Model complete, filled(model, settings, *source));
    HALFTONE_TRY(runtime::Interpreter interpreter, runtime::Interpreter::create(complete, backends));
    return ModelRun(complete.graph, settings, *source, std::move(interpreter)).run(progress);
}

} // namespace halftone::session
