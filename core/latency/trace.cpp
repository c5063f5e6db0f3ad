#include "core/latency/trace.h"

#include "core/backends/backends.h"
#include "core/base/field.h"
#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/kernels/buffer.h"
#include "core/latency/model_inputs.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

namespace halftone::latency {
namespace {

using graph::NodeId;
using tensor::Tensor;

bool waits(const ops::Operator &op)
{
    const auto *const opaque = op.getIf<ops::Opaque>();
    return opaque != nullptr && opaque->waits;
}

class Tracer
{
public:
    Tracer(infer::TypedModel &typed, Guess guess, const interpret::RunLimits &limits)
        : m_typed(typed)
        , m_guess(guess)
        , m_limits(limits)
        , m_graph(typed.model.graph)
        , m_isFed(m_graph.nodeCount(), false)
    {
    }

    Result<void> run(const Progress &progress)
    {
        HALFTONE_TRY(const interpret::Feed feed, makeFeed());
        HALFTONE_TRY(kernels::BackendChain chain, backends::backendChain(backends::kDefaultBackend, 0));
        HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(m_typed.model, std::move(chain)));
        m_typed.traced.resize(m_graph.nodeCount());
        HALFTONE_TRY(auto shapesOnly, interpreter.start(feed, interpret::Prepare::WhenComputed));
        HALFTONE_TRY(const bool isNoted, noteAll(shapesOnly, false, progress));
        m_typed.isForFedValues = !isNoted;
        if (isNoted)
            return {};
        HALFTONE_TRY(auto execution, interpreter.start(feed, interpret::Prepare::WhenComputed));
        HALFTONE_CHECK(noteAll(execution, true, progress));
        return {};
    }

private:
    Result<interpret::Feed> makeFeed()
    {
        std::unordered_set<std::string_view> held;
        for (const tensor::Array &array : m_typed.model.parameters)
            held.insert(dialect::variableOf(m_graph, array.name));
        interpret::Feed feed;
        for (const NodeId id : graph::postOrder(m_graph)) {
            const std::string &name = m_graph.node(id).name;
            if (!m_graph.isVariable(id) || held.contains(name))
                continue;
            const kernels::TensorDesc desc{m_typed.types.at(id, 0), m_typed.shapes.byNode[id][0]};
            if (!desc.shape.isComplete())
                return orElse(badInput(name, "its shape is unknown: " + desc.shape.toString()), Field::Shape,
                              "for every input");
            if (desc.dtype == tensor::DType::Unknown)
                return badInput(name, "its type is unknown");
            m_isFed[id] = true;
            if (const auto fed = m_typed.fed.find(name); fed != m_typed.fed.end()) {
                feed[name] = fed->second;
                continue;
            }
            HALFTONE_TRY(feed[name], guessedInput(m_typed, id, m_guess));
        }
        return feed;
    }

    /// computesAll  else what hangs on fed values is only stood in for by tensors of its shape
    /// False: something hangs on such values themselves, or its shape does.
    Result<bool> noteAll(interpret::Execution &execution, bool computesAll, const Progress &progress)
    {
        while (!execution.isDone()) {
            progress.tell(execution.shareDone(), "finding shapes");
            HALFTONE_TRY(const bool isNoted, note(execution, computesAll, progress));
            if (!isNoted)
                return false;
        }
        return true;
    }

    Result<bool> note(interpret::Execution &execution, bool computesAll, const Progress &progress)
    {
        const NodeId id = execution.node();
        const graph::NodeDef &node = m_graph.node(id);
        std::vector<Tensor> inputs = execution.inputs();
        const std::span<const graph::Entry> entries = m_graph.inputs(id);
        for (std::size_t k = 0; !computesAll && k < inputs.size(); ++k)
            if (m_isFed[entries[k].node])
                inputs[k] = Tensor(tensor::DType::Unknown, inputs[k].shape(), {}, nullptr);
        HALFTONE_TRY(const ops::Operator op, dialect::of(m_graph).readWith(node, inputs));
        const auto *const info = dialect::of(m_graph).findOp(node.op);
        const bool isDrawn = info != nullptr && !info->mayMerge(); // each time anew
        m_isFed[id] = isDrawn
            || (!op.is<ops::ShapeOf>() && std::ranges::any_of(entries, [this](const graph::Entry &input) {
                          return m_isFed[input.node];
                      }));
        std::vector<Tensor> outputs;
        if (m_isFed[id] && !computesAll) {
            if (waits(op))
                return false;
            HALFTONE_TRY(auto standIns, standInsFor(execution.outputsOf(id)));
            if (!standIns)
                return false;
            outputs = *standIns;
            execution.give(std::move(*standIns));
        } else {
            HALFTONE_TRY(const interpret::NodeValue value, execution.step(progress, m_limits));
            outputs.assign(value.outputs.begin(), value.outputs.end());
        }
        take(id, op, std::move(outputs));
        return true;
    }

    /// Nothing: a type or shape is open.
    static Result<std::optional<std::vector<Tensor>>>
    standInsFor(const std::vector<kernels::TensorDesc> &descs)
    {
        std::vector<Tensor> standIns;
        for (const kernels::TensorDesc &desc : descs) {
            if (desc.dtype == tensor::DType::Unknown || !desc.shape.isComplete())
                return std::optional<std::vector<Tensor>>();
            HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate(desc)); // never touched
            standIns.push_back(buffer.tensor);
        }
        return std::optional(std::move(standIns));
    }

    void take(NodeId id, const ops::Operator &op, std::vector<Tensor> outputs)
    {
        const auto types = m_typed.types.outputs(id);
        auto &shapes = m_typed.shapes.byNode[id];
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            if (k < types.size())
                types[k] = outputs[k].dtype();
            if (k < shapes.size())
                shapes[k] = outputs[k].shape();
        }
        infer::TracedNode &traced = m_typed.traced[id];
        traced.op = op;
        if (!m_isFed[id])
            traced.constants = std::move(outputs);
    }

    infer::TypedModel &m_typed;
    Guess m_guess;
    interpret::RunLimits m_limits;
    const graph::Graph &m_graph;
    std::vector<bool> m_isFed; ///< by NodeId: its value hangs on what is fed
};

} // namespace

bool needsTrace(const infer::TypedModel &typed)
{
    const graph::Graph &graph = typed.model.graph;
    const auto read = graph::referencedOutputs(graph);
    bool isOpen = false;
    for (const NodeId id : graph::postOrder(graph)) {
        const auto types = typed.types.outputs(id);
        bool isKnown = true;
        for (std::size_t k = 0; k < std::min<std::size_t>(read[id], types.size()); ++k)
            isKnown
                = isKnown && types[k] != tensor::DType::Unknown && typed.shapes.byNode[id][k].isComplete();
        if (graph.isVariable(id) && !isKnown)
            return false; // somebody has to say that first
        isOpen = isOpen || !isKnown;
        const auto op = dialect::of(graph).readWith(graph.node(id), {});
        isOpen = isOpen || (op.ok() && waits(op.value()));
    }
    return isOpen;
}

Result<void> trace(infer::TypedModel &typed, const Progress &progress, const interpret::RunLimits &limits)
{
    const infer::TypedModel before = typed;
    auto traced = Tracer(typed, Guess::Legal, limits).run(progress);
    if (traced.ok() || traced.error().code != Errc::BadInput)
        return traced;
    typed = before; // what integers may be was guessed wrong: 0 is a place that every table has
    return Tracer(typed, Guess::Zeros, limits).run(progress).ok() ? Result<void>() : traced;
}

} // namespace halftone::latency
