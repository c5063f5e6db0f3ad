#include "core/interpret/graph_runner.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/body_binding.h"
#include "core/infer/shown_outputs.h"
#include "core/interpret/run_memory.h"
#include "core/kernels/buffer.h"
#include "core/kernels/same_operation.h"
#include "core/ops/close_shapes.h"
#include "core/ops/cost.h"
#include "core/ops/infer_shape.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace halftone::interpret {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Kernels kept for one node: a loop over pictures of a few sizes prepares each size once.
constexpr std::size_t kKernelsPerNode = 4;

bool readsLabel(const ops::Operator &op, std::size_t input)
{
    return input > 0 && (op.is<ops::SoftmaxOutput>() || op.is<ops::RegressionOutput>());
}

/// Is it read anew in each run, when its inputs' values are there?
bool waits(const ops::Operator &op)
{
    const auto *const opaque = op.getIf<ops::Opaque>();
    return opaque != nullptr && opaque->waits;
}

std::size_t bytesOf(std::span<const Tensor> values)
{
    std::size_t bytes = 0;
    for (const Tensor &value : values)
        bytes += value.bytes().size();
    return bytes;
}

/// fails: Unsupported for so many operations that they would take days.
Result<void> checkWork(const kernels::Operation &operation)
{
    constexpr double kMostFlops = 1e15;
    std::array<std::vector<Shape>, 2> shapes;
    for (std::size_t side = 0; side < 2; ++side)
        for (const kernels::TensorDesc &desc : side == 0 ? operation.inputs : operation.outputs)
            shapes[side].push_back(desc.shape);
    const auto flops = ops::flops(operation.op, shapes[0], shapes[1]);
    if (!flops || *flops <= kMostFlops)
        return {};
    return unsupported({}, operation.opName + " needs more than 1e15 floating-point operations",
                       "fewer; 1e15 already take hours");
}

Result<Tensor> zeros(const kernels::TensorDesc &desc)
{
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate(desc));
    if (!buffer.tensor.bytes().empty())
        std::memset(buffer.bytes, 0, buffer.tensor.bytes().size());
    return buffer.tensor;
}

} // namespace

Error notFed(const graph::Graph &graph, NodeId variable)
{
    const graph::NodeDef &node = graph.node(variable);
    if (std::string type = dialect::of(graph).foreignType(node); !type.empty())
        return unsupported(node.name, std::move(type), "a supported type");
    return badInput(node.name, "no data for this input", "an array of this name");
}

GraphRunner::GraphRunner(const graph::Graph &graph, const kernels::BackendChain &backends, int depth,
                         DType float16As)
    : m_graph(graph)
    , m_backends(backends)
    , m_depth(depth)
    , m_float16As(float16As)
    , m_order(graph::postOrder(graph))
    , m_ops(graph.nodeCount())
    , m_shown(infer::shownOutputs(graph))
    , m_isLabel(graph.nodeCount())
    , m_readers(graph.nodeCount())
    , m_prepared(graph.nodeCount())
    , m_settings(m_graph, m_order, depth, float16As)
{
}

Result<std::unique_ptr<GraphRunner>> GraphRunner::create(const graph::Graph &graph,
                                                         const kernels::BackendChain &backends, int depth,
                                                         DType float16As)
{
    std::unique_ptr<GraphRunner> runner(new GraphRunner(graph, backends, depth, float16As));
    HALFTONE_CHECK(runner->readOperators());
    runner->findLabels();
    runner->countReaders();
    return runner;
}

std::vector<NodeId> GraphRunner::variables() const
{
    std::vector<NodeId> found = m_order;
    std::erase_if(found, [this](NodeId id) { return !m_graph.isVariable(id); });
    std::ranges::sort(found);
    return found;
}

Error GraphRunner::atNode(NodeId id, Error error) const
{
    const graph::NodeDef &node = m_graph.node(id);
    if (!error.where.empty())
        error.found = error.where + ": " + error.found;
    error.where = node.name;
    return error;
}

Result<void> GraphRunner::readOperators()
{
    for (const NodeId id : m_order) {
        const graph::NodeDef &node = m_graph.node(id);
        if (node.isVariable())
            continue;
        HALFTONE_TRY(const std::optional<Tensor> held, dialect::of(m_graph).constantOf(node));
        if (held) {
            HALFTONE_TRY(m_held[id],
                         held->dtype() == DType::F16 && m_float16As != DType::F16
                             ? kernels::converted(*held, m_float16As)
                             : kernels::readable(*held));
            continue;
        }
        HALFTONE_TRY(m_ops[id], dialect::of(m_graph).readWith(node, {}));
        const dialect::OpInfo *const info = dialect::of(m_graph).findOp(node.op);
        const std::size_t needed = info ? info->inputCount(node.attributes).value_or(0) : 0;
        const std::size_t given = m_graph.inputs(id).size();
        if (node.subgraphs.empty() && given < needed)
            return badInput(node.name, node.op + " with " + std::to_string(given) + " inputs",
                            std::to_string(needed));
        if (const auto *product = m_ops[id].getIf<ops::FusedProduct>()) {
            if (given != product->inputCount())
                return badInput(node.name, node.op + " with " + std::to_string(given) + " inputs",
                                std::to_string(product->inputCount()));
        } else if (dialect::roleOf(m_graph, id) == dialect::NodeRole::ControlFlow
                   && !m_ops[id].is<ops::ControlFlow>()) { // its bodies do not say what they are given
            return unsupported(node.name, "the control flow operator " + node.op + " is not supported");
        } else if (!node.subgraphs.empty()) {
            if (m_depth >= infer::kMaxBodyDepth)
                return unsupported(node.name,
                                   "bodies nested deeper than " + std::to_string(infer::kMaxBodyDepth));
            for (const auto &body : node.subgraphs) {
                auto runner = create(*body, m_backends, m_depth + 1, m_float16As);
                if (!runner.ok())
                    return atNode(id, std::move(runner).error());
                m_bodies[id].push_back(std::move(runner).value());
            }
        } else if (m_ops[id].is<ops::Opaque>() && !waits(m_ops[id])) {
            return unsupported(node.name, "no kernel computes the operator " + node.op);
        }
    }
    return {};
}

/// Against the flow, so that casts of labels are known for what they are: a conversion may have put them there.
void GraphRunner::findLabels()
{
    std::vector<bool> isRead(m_graph.nodeCount()); // as a label
    std::vector<bool> isData(m_graph.nodeCount());
    for (const Entry &head : m_graph.heads())
        isData[head.node] = true;
    for (std::size_t k = m_order.size(); k-- > 0;) {
        const NodeId id = m_order[k];
        const bool isLabel = isRead[id] && !isData[id];
        m_isLabel[id] = isLabel && m_graph.isVariable(id);
        const bool castsLabel = isLabel && m_ops[id].is<ops::Cast>();
        const auto inputs = m_graph.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            (castsLabel || readsLabel(m_ops[id], i) ? isRead : isData)[inputs[i].node] = true;
    }
}

void GraphRunner::countReaders()
{
    for (const NodeId id : m_order) {
        for (const Entry &entry : m_graph.inputs(id))
            ++m_readers[entry.node];
    }
    for (const Entry &head : m_graph.heads())
        ++m_readers[head.node];
}

std::vector<Tensor> GraphRunner::constantsOf(NodeId id, const Values &values) const
{
    std::vector<Tensor> constants;
    if (m_constants.empty())
        return constants;
    for (const Entry &entry : m_graph.inputs(id)) {
        const Tensor &constant = m_constants[entry.node];
        const bool holds = isSet(constant) && !values[entry.node].empty()
            && kernels::areSame(constant, values[entry.node][entry.output]);
        constants.push_back(holds ? constant : Tensor());
    }
    return constants;
}

Result<void> GraphRunner::prepareAll(const Setting &setting, const Values &values)
{
    for (const NodeId id : m_order) {
        if (m_graph.isVariable(id) || m_bodies.contains(id) || m_held.contains(id) || waits(m_ops[id]))
            continue;
        kernels::Operation operation{m_ops[id],
                                     m_graph.node(id).op,
                                     {},
                                     describe(setting.shapes.byNode[id], setting.types.outputs(id)),
                                     constantsOf(id, values),
                                     m_shown[id],
                                     kernels::seedOf(m_graph.node(id).name)};
        bool known = !operation.outputs.empty();
        for (const Entry &entry : m_graph.inputs(id)) {
            operation.inputs.push_back({setting.types.of(entry), setting.shapes.of(entry)});
            known = known && operation.inputs.back().shape.isComplete();
        }
        if (known)
            HALFTONE_CHECK(prepare(id, std::move(operation)));
    }
    return {};
}

Result<GraphRunner::Prepared *> GraphRunner::prepare(NodeId id, kernels::Operation operation)
{
    std::vector<Prepared> &kept = m_prepared[id];
    for (Prepared &prepared : kept)
        if (kernels::areSame(prepared.operation, operation))
            return &prepared;
    if (auto bounded = checkWork(operation); !bounded.ok())
        return atNode(id, std::move(bounded).error());
    Error refusal = unsupported({}, "no backend");
    for (const auto &backend : m_backends) {
        auto kernel = backend->prepare(operation);
        if (kernel.ok()) {
            if (kept.size() == kKernelsPerNode)
                kept.erase(kept.begin());
            std::string name = kernel.value()->name();
            kept.push_back({std::move(operation), std::move(kernel).value(), std::move(name)});
            return &kept.back();
        }
        refusal = std::move(kernel).error();
        if (refusal.code != Errc::Unsupported)
            break;
    }
    return atNode(id, std::move(refusal));
}

Result<void> GraphRunner::bindVariables(const Setting &setting, std::vector<Tensor> variables,
                                        Values &values) const
{
    for (const NodeId id : m_order) {
        if (!m_graph.isVariable(id))
            continue;
        const DType type = setting.types.at(id, 0);
        Tensor value = std::move(variables[id]);
        if (!isSet(value)) {
            const Shape &shape = setting.shapes.byNode[id][0];
            if (!m_isLabel[id])
                return notFed(m_graph, id);
            HALFTONE_TRY(value, zeros({type, shape.isComplete() ? shape : Shape{1}}));
        } else if (value.dtype() != type) {
            HALFTONE_TRY(value, kernels::converted(value, type));
        } else {
            HALFTONE_TRY(value, kernels::readable(value));
        }
        values[id].push_back(std::move(value));
    }
    return {};
}

Result<std::vector<Tensor>> GraphRunner::runKernel(NodeId id, const State &state,
                                                   std::span<const Tensor> inputs, const RunOptions &options,
                                                   std::string_view &kernel)
{
    const Setting &setting = *state.setting;
    ops::Operator op = m_ops[id];
    if (waits(op)) {
        HALFTONE_TRY(op, dialect::of(m_graph).readWith(m_graph.node(id), inputs));
        if (op.is<ops::Opaque>())
            return unsupported({},
                               "no kernel computes the operator " + m_graph.node(id).op
                                   + " with these attributes and types");
    }
    kernels::Operation operation{op,
                                 m_graph.node(id).op,
                                 {},
                                 {},
                                 constantsOf(id, state.values),
                                 m_shown[id],
                                 kernels::seedOf(m_graph.node(id).name)};
    std::vector<Shape> inputShapes;
    std::vector<const std::byte *> from;
    for (const Tensor &input : inputs) {
        operation.inputs.push_back(kernels::descOf(input));
        inputShapes.push_back(input.shape());
        from.push_back(input.bytes().data());
    }
    const auto types = setting.types.outputs(id);
    operation.outputs = describe(setting.shapes.byNode[id], types);
    if (operation.outputs.empty()) { // depends on values: on what a body made, say
        std::vector<Shape> shapes(types.size());
        HALFTONE_CHECK(ops::inferShapes(op, inputShapes, shapes));
        ops::closeShapes(op, inputs, shapes);
        operation.outputs = describe(shapes, types);
        if (operation.outputs.empty())
            return unsupported({}, operation.opName + " has an output of unknown shape");
    }
    HALFTONE_CHECK(checkBytes(operation.outputs, options.limits));
    std::vector<kernels::Buffer> buffers;
    std::vector<std::byte *> to;
    for (const kernels::TensorDesc &desc : operation.outputs) {
        HALFTONE_TRY(kernels::Buffer buffer, kernels::allocate(desc));
        to.push_back(buffer.bytes);
        buffers.push_back(std::move(buffer));
    }
    HALFTONE_TRY(Prepared *const prepared, prepare(id, std::move(operation)));
    kernel = prepared->name;
    prepared->kernel->setStop(options.progress.stop);
    HALFTONE_CHECK(prepared->kernel->run(from, to));
    if (!state.keepsKernels) {
        kernel = m_graph.node(id).op; // the name goes with the kernel
        m_prepared[id].clear();
    }
    std::vector<Tensor> outputs;
    outputs.reserve(buffers.size());
    for (kernels::Buffer &buffer : buffers)
        outputs.push_back(std::move(buffer.tensor));
    return outputs;
}

/// fails: what a node of a body gives passes the limit.
Result<void> GraphRunner::checkBytes(std::span<const kernels::TensorDesc> outputs,
                                     const RunLimits &limits) const
{
    if (m_depth == 0 || limits.bodyBytes == 0)
        return {};
    std::size_t bytes = 0;
    for (const kernels::TensorDesc &desc : outputs) {
        HALFTONE_TRY(const std::size_t own, kernels::checkedBytes(desc));
        bytes += own;
    }
    if (bytes > limits.bodyBytes)
        return unsupported({}, std::to_string(bytes) + " bytes in a body",
                           "at most " + std::to_string(limits.bodyBytes) + " during shape inference");
    return {};
}

void GraphRunner::skipVariables(State &state) const
{
    while (!isDone(state) && m_graph.isVariable(m_order[state.next]))
        ++state.next;
}

void GraphRunner::release(NodeId id, State &state) const
{
    for (const Entry &entry : m_graph.inputs(id)) {
        if (--state.readers[entry.node] > 0)
            continue;
        if (state.isOwn[entry.node])
            state.ownBytes -= bytesOf(state.values[entry.node]);
        state.values[entry.node].clear();
    }
}

Result<GraphRunner::State> GraphRunner::start(std::vector<Tensor> variables, Prepare prepare)
{
    State state;
    HALFTONE_TRY(state.setting, m_settings.of(variables, m_constants));
    state.values.resize(m_graph.nodeCount());
    state.isOwn.resize(m_graph.nodeCount());
    state.readers = m_readers;
    state.keepsKernels = prepare != Prepare::Once;
    HALFTONE_CHECK(bindVariables(*state.setting, std::move(variables), state.values));
    if (prepare == Prepare::Ahead)
        HALFTONE_CHECK(prepareAll(*state.setting, state.values));
    skipVariables(state);
    return state;
}

Result<NodeValue> GraphRunner::step(State &state, const RunOptions &options)
{
    const NodeId id = m_order[state.next];
    std::vector<Tensor> inputs;
    for (const Entry &entry : m_graph.inputs(id))
        inputs.push_back(state.values[entry.node][entry.output]);
    std::string_view kernel = m_graph.node(id).op;
    const auto held = m_held.find(id);
    auto outputs = held != m_held.end() ? Result(std::vector{held->second})
        : m_bodies.contains(id)         ? runBodies(id, *state.setting, inputs, options)
                                        : runKernel(id, state, inputs, options, kernel);
    HALFTONE_CHECK(options.progress.checkStop());
    if (!outputs.ok())
        return atNode(id, std::move(outputs).error());
    state.values[id] = std::move(outputs).value();
    state.isOwn[id] = true;
    state.ownBytes += bytesOf(state.values[id]);
    release(id, state);
    ++state.next;
    skipVariables(state);
    return NodeValue{id, state.values[id], kernel};
}

void GraphRunner::give(State &state, std::vector<Tensor> outputs) const
{
    const NodeId id = m_order[state.next];
    state.values[id] = std::move(outputs);
    release(id, state);
    ++state.next;
    skipVariables(state);
}

std::size_t GraphRunner::peakBytes(const State &state) const
{
    return interpret::peakBytes(m_graph, m_order, m_readers, *state.setting);
}

std::size_t GraphRunner::scratchBytes(const State &state) const
{
    return interpret::scratchBytes(m_graph, m_order, m_constants, *state.setting);
}

double GraphRunner::shareDone(const State &state) const
{
    return static_cast<double>(state.next) / static_cast<double>(std::max<std::size_t>(m_order.size(), 1));
}

std::vector<Tensor> GraphRunner::heads(const State &state) const
{
    std::vector<Tensor> heads;
    for (const Entry &head : m_graph.heads())
        heads.push_back(state.values[head.node][head.output]);
    return heads;
}

void GraphRunner::replace(State &state, NodeId id, std::vector<Tensor> outputs) const
{
    if (state.isOwn[id])
        state.ownBytes -= bytesOf(state.values[id]);
    state.values[id] = std::move(outputs);
    state.isOwn[id] = true;
    state.ownBytes += bytesOf(state.values[id]);
}

Result<std::vector<Tensor>> GraphRunner::run(std::vector<Tensor> variables, const RunOptions &options)
{
    HALFTONE_TRY(State state, start(std::move(variables)));
    while (!isDone(state)) {
        HALFTONE_CHECK(options.progress.checkStop());
        if (m_depth == 0)
            options.progress.tell(shareDone(state), m_graph.node(nextNode(state)).name);
        HALFTONE_TRY(const NodeValue value, step(state, options));
        if (options.tap && m_depth == 0)
            HALFTONE_CHECK(options.tap(value));
    }
    return heads(state);
}

} // namespace halftone::interpret
