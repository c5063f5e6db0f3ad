#include "core/walks/runtime_model.h"

#include "core/backends/backends.h"
#include "core/graph/traverse.h"
#include "core/kernels/buffer.h"
#include "core/latency/typed_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace halftone::walks {
namespace {

using graph::Entry;
using tensor::Tensor;

/// Writes the value of an input, in the type that the plan takes.
Result<void> setInput(kernels::LatencyPlan &plan, std::size_t k, const interpret::Feed &feed)
{
    const kernels::PlanPort &port = plan.inputs()[k];
    const auto found = feed.find(port.name);
    if (found == feed.end())
        return badInput(port.name, "no values", "an array of this name");
    Tensor values = found->second;
    if (values.dtype() != port.desc.dtype) {
        HALFTONE_TRY(values, kernels::converted(values, port.desc.dtype));
    }
    const std::span<std::byte> memory = plan.input(k);
    if (values.byteCount() != memory.size())
        return badInput(port.name, "shape " + values.shape().toString(), port.desc.shape.toString());
    if (!memory.empty())
        std::memcpy(memory.data(), values.bytes().data(), memory.size());
    return {};
}

std::vector<Tensor> outputsOf(const kernels::LatencyPlan &plan)
{
    std::vector<Tensor> outputs;
    for (std::size_t k = 0; k < plan.outputs().size(); ++k) {
        const kernels::TensorDesc &desc = plan.outputs()[k].desc;
        const auto bytes = plan.output(k);
        outputs.push_back(Tensor::owning(desc.dtype, desc.shape, {bytes.begin(), bytes.end()}));
    }
    return outputs;
}

/// Entries of `from` as those of `to`, whose functions and fused nodes are taken apart; with their places.
std::vector<std::pair<Entry, std::size_t>> entriesIn(const graph::Graph &to, const graph::Graph &from,
                                                     std::span<const Entry> wanted)
{
    const graph::NodesByName ids = graph::operatorsByName(to);
    std::vector<std::pair<Entry, std::size_t>> entries;
    for (std::size_t place = 0; place < wanted.size(); ++place) {
        Entry entry = wanted[place];
        const std::string &name = from.node(entry.node).name;
        if (entry.node >= to.nodeCount() || to.node(entry.node).name != name) {
            const auto found = ids.find(name);
            if (found == ids.end())
                continue;
            entry.node = found->second;
        }
        entries.emplace_back(entry, place);
    }
    return entries;
}

} // namespace

RuntimeModel::RuntimeModel(const graph::Model &model, runtimes::RuntimeUse use)
    : m_model(model)
    , m_use(std::move(use))
{
}

RuntimeModel::~RuntimeModel() = default;

std::optional<kernels::RuntimeFacts> RuntimeModel::runtime() const
{
    return m_plan ? m_plan->runtime() : std::nullopt;
}

Result<void> RuntimeModel::prepare(const interpret::Feed &feed, const Progress &progress)
{
    infer::KnownShapes shapes;
    for (const auto &[name, value] : feed)
        shapes.emplace(name, value.shape());
    // Where values decide shapes, the model is typed for each batch.
    if (m_typed && shapes == m_shapes && m_typed->traced.empty())
        return {};
    m_plan.reset();
    HALFTONE_TRY(m_typed,
                 latency::typedModel(m_model, shapes, policy::Policy(), progress, feed, {},
                                     rewrite::InlinedCalls::OfTheModel));
    m_shapes = std::move(shapes);
    return {};
}

Result<std::vector<Tensor>> RuntimeModel::heads(const interpret::Feed &feed, const Progress &progress)
{
    HALFTONE_CHECK(prepare(feed, progress));
    if (!m_plan) {
        HALFTONE_TRY(const auto backend,
                     backends::planningBackend(m_use.backend, m_use.threads, m_use.precision));
        HALFTONE_TRY(m_plan, backend->plan(*m_typed, {}));
    }
    for (std::size_t k = 0; k < m_plan->inputs().size(); ++k)
        HALFTONE_CHECK(setInput(*m_plan, k, feed));
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_CHECK(m_plan->run(progress));
    const double here = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto there = m_plan->lastRunMs();
    m_seconds = there ? *there / 1e3 : here;
    return outputsOf(*m_plan);
}

Result<void> RuntimeModel::values(const interpret::Feed &feed, std::span<const Entry> wanted,
                                  const Take &take, const Progress &progress)
{
    HALFTONE_CHECK(prepare(feed, progress));
    const auto known = entriesIn(m_typed->model.graph, m_model.graph, wanted);
    std::vector<Entry> entries;
    for (const auto &[entry, place] : known)
        entries.push_back(entry);
    return runtimes::layerValues(
        m_use, *m_typed, entries, feed,
        [&](std::size_t k, const Tensor &value) { return take(known[k].second, value); }, progress);
}

bool runsWholeModels(const std::string &backend)
{
    const auto info = backends::backendInfo(backend);
    return info.ok() && info.value().wholeModels;
}

std::string kernelBackendFor(const std::string &backend)
{
    return runsWholeModels(backend) ? std::string(backends::kDefaultBackend) : backend;
}

} // namespace halftone::walks
