#include "core/session/figures.h"

#include "core/profile/latency.h"
#include "core/profile/typed_model.h"
#include "core/runtime/backends.h"
#include "core/runtime/plan_cache.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace halftone::session {
namespace {

using Shapes = std::unordered_map<std::string, tensor::Shape>;
using Plan = std::unique_ptr<runtime::LatencyPlan>;

Result<Shapes> shapesOfVariables(const Snapshot &snapshot)
{
    Shapes known;
    const graph::Graph &graph = snapshot.graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            continue;
        const tensor::Shape &shape = snapshot.shapes->byNode[id][0];
        if (!shape.isComplete())
            return badInput(graph.node(id).name, "shape " + shape.toString(),
                            "a known shape, to measure with");
        known.emplace(graph.node(id).name, shape);
    }
    return known;
}

Result<Plan> planOf(const graph::Model &model, const Shapes &known, const policy::Policy &policy,
                    const runtime::PlanOptions &options)
{
    HALFTONE_TRY(const profile::TypedModel typed, profile::typedModel(model, known, policy));
    return profile::measurablePlan(typed, options);
}

bool isNative(tensor::DType type)
{
    for (const runtime::BackendInfo &backend : runtime::allBackends()) {
        if (backend.name != "cpu" || !backend.available)
            continue;
        for (const auto &[supported, how] : backend.dtypes)
            if (supported == type)
                return how == runtime::Support::Native;
    }
    return false;
}

/// Int8 operators have names of their own; their steps are told by the names of the source's nodes in them.
void nameSources(const Snapshot &snapshot, profile::Latency &latency)
{
    const passes::Conversion &conversion = snapshot.converted->conversion;
    std::unordered_map<std::string_view, std::vector<std::string>> members;
    for (graph::NodeId id = 0; id < conversion.int8Group.size(); ++id) {
        if (!conversion.isInt8(id))
            continue;
        graph::NodeId node = conversion.fromSource[conversion.int8Group[id]];
        if (node == passes::kNoNode) // another one computes the same
            continue;
        if (conversion.graph.node(node).op == "_contrib_requantize")
            node = conversion.graph.inputs(node)[0].node;
        members[conversion.graph.node(node).name].push_back(snapshot.graph().node(id).name);
    }
    for (profile::LayerLatency &layer : latency.layers) {
        std::vector<std::string> names;
        for (std::string &name : layer.step.nodes) {
            if (const auto found = members.find(name); found != members.end())
                names.insert(names.end(), found->second.begin(), found->second.end());
            else
                names.push_back(std::move(name));
        }
        layer.step.nodes = std::move(names);
    }
}

using Ids = std::unordered_map<std::string_view, graph::NodeId>;

void gatherLatency(const profile::Latency &latency, const Ids &ids, std::vector<NodeFigures> &nodes,
                   std::optional<NodeLatency> NodeFigures::*member)
{
    for (std::size_t step = 0; step < latency.layers.size(); ++step) {
        const profile::LayerLatency &layer = latency.layers[step];
        if (layer.step.kind != runtime::StepKind::Compute)
            continue;
        for (const std::string &name : layer.step.nodes) {
            if (const auto found = ids.find(name); found != ids.end())
                nodes[found->second].*member
                    = NodeLatency{layer.medianUs, static_cast<std::uint32_t>(step),
                                  static_cast<std::uint32_t>(layer.step.nodes.size() - 1)};
        }
    }
}

} // namespace

struct LatencyMeter::Kept
{
    std::shared_ptr<runtime::PlanCache> cache = std::make_shared<runtime::PlanCache>();
    std::shared_ptr<const passes::ShapeMap> shapes; ///< that `wide` was made for
    unsigned threads = 0;
    runtime::BackendChain fallback; ///< plans point into it, so it goes after them
    Plan wide;
};

LatencyMeter::LatencyMeter()
    : m_kept(std::make_unique<Kept>())
{
}

LatencyMeter::~LatencyMeter() = default;

Result<LatencyFigures> LatencyMeter::measure(const Snapshot &snapshot, const LatencyOptions &options,
                                             const Progress &progress)
{
    if (!snapshot.converted)
        return badInput({}, "no conversion to measure");
    HALFTONE_TRY(const Shapes known, shapesOfVariables(snapshot));
    const unsigned threads = options.threads > 0 ? options.threads : runtime::machineThreads();
    if (m_kept->shapes != snapshot.shapes || m_kept->threads != threads) {
        m_kept = std::make_unique<Kept>();
        HALFTONE_TRY(m_kept->fallback, runtime::backendChain("reference", threads));
    }
    runtime::PlanOptions planOptions;
    planOptions.threads = static_cast<int>(threads);
    planOptions.fallback = m_kept->fallback.front().get();
    planOptions.cache = m_kept->cache;
    if (!m_kept->wide) {
        progress.tell(0, "preparing float32");
        HALFTONE_TRY(m_kept->wide, planOf(snapshot.source->model, known, policy::Policy(), planOptions));
        m_kept->shapes = snapshot.shapes;
        m_kept->threads = threads;
    }
    LatencyFigures figures;
    figures.native = isNative(snapshot.policy->target);
    const auto part = [&progress](double from, double share) {
        return Progress{progress.stop, [&progress, from, share](double done, std::string_view what) {
                            progress.tell(from + share * done, what);
                        }};
    };
    HALFTONE_TRY(figures.fp32, profile::measureLatency(*m_kept->wide, options.settings, part(0.1, 0.3)));
    if (!figures.native)
        return figures;
    HALFTONE_TRY(const Plan mixed, planOf(snapshot.converted->model, known, *snapshot.policy, planOptions));
    HALFTONE_TRY(figures.mixed, profile::measureLatency(*mixed, options.settings, part(0.4, 0.3)));
    nameSources(snapshot, figures.mixed);
    HALFTONE_TRY(figures.versus,
                 profile::measureVersus(*mixed, *m_kept->wide, options.settings, 1, part(0.7, 0.3)));
    return figures;
}

void gatherByNode(Figures &figures, const graph::Graph &source)
{
    figures.nodes.resize(source.nodeCount());
    if (figures.comparison) {
        // Until isolated effects of this revision are there, those of an earlier one stay, marked as such.
        const bool isolated = figures.isolatedRevision == figures.comparisonRevision;
        for (const profile::LayerErrors &layer : figures.comparison->comparison.layers) {
            if (layer.output != 0 || layer.node >= figures.nodes.size())
                continue;
            figures.nodes[layer.node].cumulative = layer.cumulative;
            if (isolated)
                figures.nodes[layer.node].isolated = layer.isolated;
        }
    }
    for (NodeFigures &node : figures.nodes)
        node.fp32 = node.mixed = std::nullopt;
    if (!figures.latency)
        return;
    Ids ids;
    for (graph::NodeId id = 0; id < source.nodeCount(); ++id)
        ids.emplace(source.node(id).name, id);
    gatherLatency(figures.latency->fp32, ids, figures.nodes, &NodeFigures::fp32);
    if (figures.latency->native)
        gatherLatency(figures.latency->mixed, ids, figures.nodes, &NodeFigures::mixed);
}

} // namespace halftone::session
