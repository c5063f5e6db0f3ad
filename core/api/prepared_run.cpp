#include "core/api/prepared_run.h"

#include "core/backends/backends.h"
#include "core/base/share_work.h"
#include "core/graph/traverse.h"
#include "core/infer/known_shapes.h"
#include "core/infer/lists.h"
#include "core/interpret/random_params.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"
#include "core/ops/tensor_list.h"
#include "core/walks/run.h"
#include "core/walks/value_names.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace halftone::api {
namespace {

using graph::NodeId;
using interpret::Feed;
using tensor::Tensor;

/// A list goes apart: NAME.0, NAME.1, …
halftone::Result<void> addValue(const std::string &name, const Tensor &value, bool isList,
                                std::vector<io::NamedTensor> &values)
{
    if (!isList) {
        values.push_back({name, value});
        return {};
    }
    HALFTONE_TRY(const auto parts, ops::tensorsOf({value.dtype(), value.shape(), value.bytes()}));
    for (std::size_t k = 0; k < parts.size(); ++k)
        values.push_back(
            {name + '.' + std::to_string(k),
             Tensor::owning(parts[k].type, parts[k].shape, {parts[k].bytes.begin(), parts[k].bytes.end()})});
    return {};
}

/// Computes node by node.
class WalkedRun final : public PreparedRun
{
public:
    WalkedRun(graph::Model model, interpret::Interpreter interpreter, const PreparedSettings &settings)
        : m_model(std::move(model))
        , m_interpreter(std::move(interpreter))
        , m_wanted(settings.values.begin(), settings.values.end())
        , m_heads(walks::sourceOutputNames(m_model.graph))
        , m_isDrawn(settings.seed.has_value())
        , m_tapsAll(settings.allNodes)
    {
        if (m_tapsAll || !m_wanted.empty())
            m_names = walks::valueNames(m_model.graph);
    }

    /// Drawn parameters have the shapes that the first inputs gave them.
    bool fits(const Feed &) const override { return !m_isDrawn; }

    halftone::Result<std::vector<io::NamedTensor>> run(const Feed &feed,
                                                       const halftone::Progress &progress) override
    {
        std::vector<io::NamedTensor> values;
        interpret::RunOptions options;
        options.progress = progress;
        if (!m_names.empty())
            options.tap = [&](const interpret::NodeValue &value) { return tap(value, values); };
        HALFTONE_TRY(const std::vector<Tensor> heads, m_interpreter.run(feed, options));
        for (std::size_t k = 0; k < heads.size() && !m_tapsAll; ++k) {
            if (m_wanted.empty() || m_wanted.contains(m_heads[k]))
                HALFTONE_CHECK(addValue(m_heads[k], heads[k],
                                        infer::isList(m_model.graph, m_model.graph.heads()[k]), values));
        }
        return values;
    }

private:
    halftone::Result<void> tap(const interpret::NodeValue &value, std::vector<io::NamedTensor> &values) const
    {
        const std::vector<std::string> &names = m_names[value.node];
        for (std::size_t k = 0; k < std::min(names.size(), value.outputs.size()); ++k) {
            const bool isHead = std::ranges::find(m_heads, names[k]) != m_heads.end();
            if (m_tapsAll ? m_wanted.empty() || m_wanted.contains(names[k])
                          : m_wanted.contains(names[k]) && !isHead)
                HALFTONE_CHECK(addValue(
                    names[k], value.outputs[k],
                    infer::isList(m_model.graph, {value.node, static_cast<std::uint32_t>(k), 0}), values));
        }
        return {};
    }

    graph::Model m_model;
    interpret::Interpreter m_interpreter;
    std::unordered_set<std::string> m_wanted;
    std::vector<std::string> m_heads;
    std::vector<std::vector<std::string>> m_names; ///< empty: only outputs are wanted
    bool m_isDrawn;
    bool m_tapsAll;
};

/// A latency plan and its ports.
class PlannedRun final : public PreparedRun
{
public:
    PlannedRun(latency::PlanMaker maker, std::unique_ptr<kernels::LatencyPlan> plan,
               std::vector<std::string> heads, const PreparedSettings &settings)
        : m_maker(std::move(maker))
        , m_plan(std::move(plan))
        , m_heads(std::move(heads))
        , m_wanted(settings.values.begin(), settings.values.end())
    {
    }

    bool fits(const Feed &feed) const override
    {
        return feed.size() == m_plan->inputs().size()
            && std::ranges::all_of(m_plan->inputs(), [&feed](const kernels::PlanPort &port) {
                   const auto found = feed.find(port.name);
                   return found != feed.end() && found->second.dtype() == port.desc.dtype
                       && found->second.shape() == port.desc.shape;
               });
    }

    halftone::Result<std::vector<io::NamedTensor>> run(const Feed &feed,
                                                       const halftone::Progress &progress) override
    {
        for (std::size_t k = 0; k < m_plan->inputs().size(); ++k) {
            const std::span<const std::byte> values = feed.at(m_plan->inputs()[k].name).bytes();
            if (!values.empty())
                std::memcpy(m_plan->input(k).data(), values.data(), values.size());
        }
        HALFTONE_CHECK(m_plan->run(progress));
        std::vector<io::NamedTensor> values;
        for (std::size_t k = 0; k < m_heads.size(); ++k) {
            const kernels::TensorDesc &desc = m_plan->outputs()[k].desc;
            const std::span<const std::byte> bytes = m_plan->output(k);
            if (m_wanted.empty() || m_wanted.contains(m_heads[k]))
                values.push_back(
                    {m_heads[k], Tensor::owning(desc.dtype, desc.shape, {bytes.begin(), bytes.end()})});
        }
        return values;
    }

private:
    latency::PlanMaker m_maker;
    std::unique_ptr<kernels::LatencyPlan> m_plan;
    std::vector<std::string> m_heads;
    std::unordered_set<std::string> m_wanted;
};

bool isWide(tensor::DType type)
{
    using enum tensor::DType;
    return type == F32 || type == F64 || type == I32 || type == I64 || type == Bool;
}

/// Does a plan give the interpreter's values, whatever the inputs hold? Outputs that nothing reads, or of no known type, do not count.
bool isPlannable(const infer::TypedModel &typed)
{
    if (typed.isForFedValues)
        return false;
    const auto read = graph::referencedOutputs(typed.model.graph);
    for (const NodeId id : graph::postOrder(typed.model.graph)) {
        const auto types = typed.types.outputs(id);
        const auto &shapes = typed.shapes.byNode[id];
        for (std::size_t k = 0; k < std::min<std::size_t>(read[id], types.size()); ++k) {
            const bool isKnown = types[k] != tensor::DType::Unknown;
            if (isKnown && (!isWide(types[k]) || k >= shapes.size() || !shapes[k].isComplete()))
                return false;
        }
    }
    return true;
}

/// Null: the interpreter computes. A reason that it would give as well is left to it.
halftone::Result<std::unique_ptr<PreparedRun>> plannedRun(const graph::Model &model, const Feed &feed,
                                                          const PreparedSettings &settings, bool isNeeded,
                                                          const halftone::Progress &progress)
{
    using Planned = std::unique_ptr<PreparedRun>;
    const std::vector<std::string> heads = walks::sourceOutputNames(model.graph);
    const bool isOfHeads
        = !settings.allNodes && std::ranges::all_of(settings.values, [&heads](const auto &name) {
              return std::ranges::find(heads, name) != heads.end();
          });
    if (isNeeded && !isOfHeads)
        return unsupported("outputs", settings.backend + " gives values of nodes to whole examples only",
                           "; run the model on data");
    if (!isNeeded && (!isOfHeads || settings.accumulator != tensor::DType::Unknown))
        return Planned();
    auto maker
        = latency::PlanMaker::create(settings.backend, threadsFor(settings.threads), settings.precision);
    if (!maker.ok())
        return isNeeded ? halftone::Result<Planned>(std::move(maker).error()) : Planned();
    infer::KnownShapes shapes;
    for (const auto &[name, value] : feed)
        shapes.emplace(name, value.shape());
    auto typed = latency::typedModel(model, shapes, {}, progress, {feed.begin(), feed.end()}, {},
                                     latency::callsInlinedFor(maker.value().backend()));
    if (!typed.ok() || (!isNeeded && !isPlannable(typed.value())))
        return isNeeded && !typed.ok() ? halftone::Result<Planned>(std::move(typed).error()) : Planned();
    auto plan = maker.value().plan(typed.value());
    if (!plan.ok())
        return isNeeded ? halftone::Result<Planned>(std::move(plan).error()) : Planned();
    if (plan.value()->outputs().size() != heads.size())
        return Planned();
    auto made
        = std::make_unique<PlannedRun>(std::move(maker).value(), std::move(plan).value(), heads, settings);
    return made->fits(feed) ? Planned(std::move(made)) : Planned();
}

} // namespace

halftone::Result<std::unique_ptr<PreparedRun>> prepareRun(const graph::Model &model, const Feed &feed,
                                                          const PreparedSettings &settings,
                                                          const halftone::Progress &progress)
{
    graph::Model complete = model;
    if (settings.seed) {
        infer::KnownShapes shapes;
        for (const auto &[name, value] : feed)
            shapes.emplace(name, value.shape());
        HALFTONE_TRY(complete, interpret::withRandomParameters(model, shapes, *settings.seed));
    }
    auto chain = backends::backendChain(settings.backend, threadsFor(settings.threads),
                                        backends::Arithmetic::Defined, settings.accumulator);
    HALFTONE_TRY(std::unique_ptr<PreparedRun> planned,
                 plannedRun(complete, feed, settings, !chain.ok(), progress));
    if (planned)
        return planned;
    HALFTONE_TRY(kernels::BackendChain backends, std::move(chain));
    HALFTONE_TRY(interpret::Interpreter interpreter,
                 interpret::Interpreter::create(complete, std::move(backends)));
    return std::unique_ptr<PreparedRun>(
        std::make_unique<WalkedRun>(std::move(complete), std::move(interpreter), settings));
}

} // namespace halftone::api
