#include "core/session/figures.h"

#include "core/base/progress_part.h"
#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/known_shapes.h"
#include "core/latency/latency.h"
#include "core/latency/model_inputs.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"
#include "core/machines/local_chips.h"
#include "core/report/as_asked.h"
#include "core/report/roofline.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace halftone::session {
namespace {

using Plan = std::unique_ptr<kernels::LatencyPlan>;

Result<infer::KnownShapes> completeShapes(const Snapshot &snapshot)
{
    const graph::Graph &graph = snapshot.graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const tensor::Shape &shape = snapshot.shapes->byNode[id][0];
        if (graph.isVariable(id) && !shape.isComplete())
            return badInput(graph.node(id).name, "shape " + shape.toString(),
                            "a known shape, to measure with");
    }
    return infer::variableShapes(graph, *snapshot.shapes);
}

/// What models are measured on.
struct MeasuredInputs
{
    infer::KnownShapes known; ///< of variables
    latency::GivenInputs first; ///< an example
};

Result<Plan> planOf(const latency::PlanMaker &maker, const graph::Model &model, const MeasuredInputs &inputs,
                    const policy::Policy &policy, const std::function<void()> &beforeTiming = {},
                    kernels::PlanLayout layout = kernels::PlanLayout::Measured)
{
    HALFTONE_TRY(const infer::TypedModel typed,
                 latency::typedModel(model, inputs.known, policy, {}, inputs.first, {},
                                     latency::callsInlinedFor(maker.backend())));
    return maker.plan(typed, beforeTiming, layout);
}

/// Who compares is told why they cannot be read; times need no certain values.
latency::GivenInputs firstOf(const Snapshot &snapshot, const LatencyOptions &options)
{
    if (!options.examples)
        return {};
    const auto examples
        = walks::openExamples(*options.examples, snapshot.source->model, snapshot.source->modelPath);
    if (!examples.ok())
        return {};
    auto first = examples.value()->batch(0, examples.value()->count() ? 1 : 0);
    return first.ok() ? std::move(first).value() : latency::GivenInputs();
}

latency::LatencySettings ofSteps(const LatencyOptions &options)
{
    latency::LatencySettings settings = options.settings;
    settings.stepsOnly = true;
    return settings;
}

/// Int8 operators have names of their own; their steps are told by the names of the source's nodes in them.
void nameSources(const Snapshot &snapshot, latency::Latency &latency)
{
    const rewrite::Conversion &conversion = snapshot.converted->conversion;
    std::unordered_map<std::string_view, std::vector<std::string>> members;
    for (graph::NodeId id = 0; id < conversion.int8Group.size(); ++id) {
        if (!conversion.isInt8(id))
            continue;
        graph::NodeId node = conversion.fromSource[conversion.int8Group[id]];
        if (node == rewrite::kNoNode) // another one computes the same
            continue;
        if (dialect::roleOf(conversion.graph, node) == dialect::NodeRole::Requantize)
            node = conversion.graph.inputs(node)[0].node;
        members[conversion.graph.node(node).name].push_back(snapshot.graph().node(id).name);
    }
    for (latency::LayerLatency &layer : latency.layers) {
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

void gatherLatency(const latency::Latency &latency, const graph::NodesByName &ids,
                   std::vector<NodeFigures> &nodes, std::optional<NodeLatency> NodeFigures::*member)
{
    for (std::size_t step = 0; step < latency.layers.size(); ++step) {
        const latency::LayerLatency &layer = latency.layers[step];
        if (layer.step.kind != kernels::StepKind::Compute)
            continue;
        const tensor::DType ranIn = latency.runtime ? layer.step.dtype : tensor::DType::Unknown;
        const tensor::DType asked
            = report::ranAsAsked(layer.step) ? tensor::DType::Unknown : report::askedOf(layer.step);
        for (const std::string &name : layer.step.nodes) {
            if (const auto found = ids.find(name); found != ids.end())
                nodes[found->second].*member
                    = NodeLatency{layer.medianUs,
                                  static_cast<std::uint32_t>(step),
                                  static_cast<std::uint32_t>(layer.step.nodes.size() - 1),
                                  layer.limitUs,
                                  ranIn,
                                  asked};
        }
    }
}

} // namespace

struct LatencyMeter::Kept
{
    std::shared_ptr<const infer::ShapeMap> shapes; ///< that `wide` was made for
    std::string backend;
    unsigned threads = 0;
    tensor::DType precision = tensor::DType::Unknown;
    std::optional<walks::ExampleOptions> examples;
    std::optional<latency::PlanMaker> maker;
    MeasuredInputs inputs;
    Plan wide;

    std::shared_ptr<const mixed::ConvertedModel> converted; ///< that `mixed` was made of
    std::shared_ptr<kernels::LatencyPlan> mixed; ///< of the last model, where it is to be kept

    Result<std::shared_ptr<kernels::LatencyPlan>> mixedPlan(const Snapshot &snapshot, bool isKept)
    {
        if (mixed && converted == snapshot.converted)
            return mixed;
        mixed.reset(); // not two beside float32's
        HALFTONE_TRY(Plan made, planOf(*maker, snapshot.converted->model, inputs, *snapshot.policy));
        std::shared_ptr<kernels::LatencyPlan> plan = std::move(made);
        if (isKept) {
            mixed = plan;
            converted = snapshot.converted;
        }
        return plan;
    }
    bool isNative(tensor::DType type) const
    {
        // A runtime is timed as it is deployed, whatever it makes of the type.
        return maker->backend().wholeModels || maker->backend().support(type) == kernels::Support::Native;
    }
    /// Layer by layer. Needs: `wide`.
    /// plan  is given the converted model's plan, unless its type is emulated
    Result<LatencyFigures> layers(const Snapshot &snapshot, const LatencyOptions &options,
                                  std::shared_ptr<kernels::LatencyPlan> &plan, const Progress &progress)
    {
        LatencyFigures figures;
        figures.native = isNative(snapshot.policy->target);
        HALFTONE_TRY(figures.fp32,
                     latency::measureLatency(*wide, options.settings, partOf(progress, 0.1, 0.45)));
        const auto chip = machines::chipOf(maker->backend());
        if (chip)
            report::addLimits(figures.fp32, *chip);
        if (!figures.native)
            return figures;
        HALFTONE_TRY(plan, mixedPlan(snapshot, options.keepsPlan));
        HALFTONE_TRY(figures.mixed,
                     latency::measureLatency(*plan, options.settings, partOf(progress, 0.55, 0.45)));
        if (chip)
            report::addLimits(figures.mixed, *chip);
        nameSources(snapshot, figures.mixed);
        return figures;
    }

    bool isFor(const Snapshot &snapshot, const LatencyOptions &options) const
    {
        return maker && shapes == snapshot.shapes && backend == options.backend && threads == options.threads
            && precision == options.precision && examples == options.examples;
    }
};

LatencyMeter::LatencyMeter()
    : m_kept(std::make_unique<Kept>())
{
}

LatencyMeter::~LatencyMeter() = default;

Result<void> LatencyMeter::keepWide(const Snapshot &snapshot, const LatencyOptions &options,
                                    const Progress &progress, const std::function<void()> &beforeTiming)
{
    if (!snapshot.converted)
        return badInput({}, "no conversion to measure");
    HALFTONE_TRY(infer::KnownShapes known, completeShapes(snapshot));
    if (!m_kept->isFor(snapshot, options)) {
        m_kept = std::make_unique<Kept>();
        HALFTONE_TRY(m_kept->maker,
                     latency::PlanMaker::create(options.backend, options.threads, options.precision));
        m_kept->shapes = snapshot.shapes;
        m_kept->inputs.known = std::move(known);
        m_kept->backend = options.backend;
        m_kept->threads = options.threads;
        m_kept->precision = options.precision;
        m_kept->examples = options.examples;
        m_kept->inputs.first = firstOf(snapshot, options);
    }
    if (!m_kept->wide) {
        progress.tell(0, "preparing float32");
        HALFTONE_TRY(
            m_kept->wide,
            planOf(*m_kept->maker, snapshot.source->model, m_kept->inputs, policy::Policy(), beforeTiming));
    }
    return {};
}

Result<bool> LatencyMeter::prepare(const Snapshot &snapshot, const LatencyOptions &options,
                                   const std::function<void()> &beforeTiming, const Progress &progress)
{
    HALFTONE_CHECK(keepWide(snapshot, options, progress, beforeTiming));
    if (!m_kept->isNative(snapshot.policy->target))
        return false;
    HALFTONE_TRY(const auto mixed, m_kept->mixedPlan(snapshot, true));
    return mixed != nullptr;
}

Result<LatencyFigures> LatencyMeter::measure(const Snapshot &snapshot, const LatencyOptions &options,
                                             const Progress &progress)
{
    HALFTONE_CHECK(keepWide(snapshot, options, progress));
    std::shared_ptr<kernels::LatencyPlan> mixed;
    HALFTONE_TRY(LatencyFigures figures, m_kept->layers(snapshot, options, mixed, partOf(progress, 0, 0.7)));
    if (figures.native) {
        HALFTONE_TRY(
            figures.versus,
            latency::measureVersus(*mixed, *m_kept->wide, options.settings, 1, partOf(progress, 0.7, 0.3)));
    }
    return figures;
}

Result<LatencyFigures> LatencyMeter::layers(const Snapshot &snapshot, const LatencyOptions &options,
                                            const Progress &progress)
{
    HALFTONE_CHECK(keepWide(snapshot, options, progress));
    std::shared_ptr<kernels::LatencyPlan> mixed;
    return m_kept->layers(snapshot, options, mixed, progress);
}

Result<latency::Latency> LatencyMeter::wideInLayoutOf(const Snapshot &snapshot, const LatencyOptions &options,
                                                      const Progress &progress)
{
    HALFTONE_CHECK(keepWide(snapshot, options, progress));
    HALFTONE_TRY(const auto mixed, m_kept->mixedPlan(snapshot, options.keepsPlan));
    if (mixed->layout() == m_kept->wide->layout())
        return latency::measureLatency(*m_kept->wide, ofSteps(options), progress);
    HALFTONE_TRY(const Plan wide,
                 planOf(*m_kept->maker, snapshot.source->model, m_kept->inputs, policy::Policy(), {},
                        mixed->layout()));
    return latency::measureLatency(*wide, ofSteps(options), progress);
}

Result<latency::Versus> LatencyMeter::versus(const Snapshot &snapshot, const LatencyOptions &options,
                                             const Progress &progress)
{
    HALFTONE_CHECK(keepWide(snapshot, options, progress));
    HALFTONE_TRY(const auto mixed, m_kept->mixedPlan(snapshot, options.keepsPlan));
    return latency::measureVersus(*mixed, *m_kept->wide, options.settings, 1, progress);
}

Result<latency::Latency> LatencyMeter::steps(const Snapshot &snapshot, const LatencyOptions &options,
                                             const Progress &progress)
{
    HALFTONE_CHECK(keepWide(snapshot, options, progress));
    HALFTONE_TRY(const auto mixed, m_kept->mixedPlan(snapshot, options.keepsPlan));
    HALFTONE_TRY(latency::Latency latency, latency::measureLatency(*mixed, ofSteps(options), progress));
    nameSources(snapshot, latency);
    return latency;
}

void LatencyMeter::forgetPlans()
{
    m_kept->wide = {};
    m_kept->mixed = {};
    m_kept->converted = {};
}

void gatherByNode(Figures &figures, const graph::Graph &source)
{
    figures.nodes.resize(source.nodeCount());
    if (figures.comparison) {
        // Until isolated effects of this revision are there, those of an earlier one stay, marked as such.
        const bool isolated = figures.isolatedRevision == figures.comparisonRevision;
        for (const compare::LayerErrors &layer : figures.comparison->comparison.layers) {
            if (layer.output != 0 || layer.node >= figures.nodes.size())
                continue;
            figures.nodes[layer.node].cumulative = layer.cumulative;
            if (isolated)
                figures.nodes[layer.node].isolated = layer.isolated;
        }
    }
    for (NodeFigures &node : figures.nodes)
        node.betweenBackends.reset();
    if (figures.backends) {
        for (const compare::LayerErrors &layer : figures.backends->outcome.comparison.layers) {
            if (layer.output == 0 && layer.node < figures.nodes.size())
                figures.nodes[layer.node].betweenBackends = layer.cumulative;
        }
    }
    for (NodeFigures &node : figures.nodes)
        node.fp32 = node.mixed = std::nullopt;
    if (!figures.latency)
        return;
    const graph::NodesByName ids = graph::operatorsByName(source);
    gatherLatency(figures.latency->fp32, ids, figures.nodes, &NodeFigures::fp32);
    if (figures.latency->native)
        gatherLatency(figures.latency->mixed, ids, figures.nodes, &NodeFigures::mixed);
}

} // namespace halftone::session
