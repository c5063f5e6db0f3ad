#include "core/interpret/interpreter.h"

#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/dialect/bound_axes.h"
#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/traverse.h"
#include "core/interpret/graph_runner.h"
#include "core/kernels/buffer.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace halftone::interpret {

using graph::NodeId;
using tensor::Tensor;

namespace {

/// Where it had to be copied, what the copy was made of need not lie in memory, too.
Result<Tensor> readableParameter(const Tensor &values)
{
    HALFTONE_TRY(Tensor copy, kernels::readable(values));
    if (copy.place() != values.place())
        MappedFile::release(values.bytes());
    return copy;
}

} // namespace

std::size_t feedBytes(const Feed &feed)
{
    std::size_t bytes = 0;
    for (const auto &[name, value] : feed)
        bytes += value.bytes().size();
    return bytes;
}

class Interpreter::Impl
{
public:
    static Result<std::unique_ptr<Impl>> create(const graph::Model &model, kernels::BackendChain backends,
                                                tensor::DType float16As)
    {
        auto impl = std::make_unique<Impl>();
        impl->m_graph = model.graph;
        impl->m_backends = std::move(backends);
        HALFTONE_TRY(impl->m_runner, GraphRunner::create(impl->m_graph, impl->m_backends, 0, float16As));
        HALFTONE_CHECK(impl->takeParameters(model));
        return impl;
    }

    std::vector<NodeId> inputs() const
    {
        std::vector<NodeId> wanted = m_runner->variables();
        std::erase_if(wanted,
                      [this](NodeId id) { return m_constants.contains(id) || m_runner->isLabel(id); });
        return wanted;
    }

    const graph::Graph &graph() const { return m_graph; }

    GraphRunner &runner() { return *m_runner; }

    /// By NodeId: what is fed, and parameters.
    Result<std::vector<Tensor>> variables(const Feed &feed) const
    {
        std::vector<Tensor> values(m_graph.nodeCount());
        std::size_t used = 0;
        for (const NodeId id : m_runner->variables()) {
            const auto given = feed.find(m_graph.node(id).name);
            const auto constant = m_constants.find(id);
            if (given != feed.end()) {
                values[id] = given->second;
                ++used;
            } else if (constant != m_constants.end()) {
                values[id] = constant->second;
            } else if (m_sparse.contains(id)) {
                return unsupported(m_graph.node(id).name, "sparse parameters are not supported",
                                   "a dense parameter");
            } else if (!m_runner->isLabel(id)) {
                return notFed(m_graph, id);
            }
        }
        if (used < feed.size())
            HALFTONE_CHECK(checkNames(feed));
        HALFTONE_CHECK(checkAxes(feed));
        return values;
    }

private:
    Result<void> takeParameters(const graph::Model &model)
    {
        const dialect::StoredArrays stored = dialect::storedArrays(model);
        std::vector<NodeId> data;
        std::vector<Tensor> constants(m_graph.nodeCount());
        for (const NodeId id : m_runner->variables()) {
            const auto array = stored.find(m_graph.node(id).name);
            if (array == stored.end() || !array->second->shape.hasRank()) {
                data.push_back(id);
                const graph::NodeDef &variable = m_graph.node(id);
                const dialect::Dialect &dialect = dialect::of(m_graph);
                if (array != stored.end() && dialect.declaresType(variable)
                    && dialect.foreignType(variable).empty())
                    m_sparse.insert(id);
                continue;
            }
            if (array->second->storage != tensor::Storage::Dense)
                return unsupported(m_graph.node(id).name, "sparse parameters are not supported",
                                   "a dense parameter");
            HALFTONE_TRY(m_constants[id], readableParameter(array->second->values));
            constants[id] = m_constants[id];
        }
        m_runner->setConstants(std::move(constants));
        m_runner->setConvertible(std::move(data));
        return {};
    }

    /// fails: a fed name that is no variable of the graph. One that no head needs is no mistake.
    Result<void> checkNames(const Feed &feed) const
    {
        const graph::NodesByName variables = graph::variablesByName(m_graph);
        for (const auto &[name, value] : feed) {
            if (variables.contains(name))
                continue;
            std::vector<std::string_view> all;
            for (const auto &[known, id] : variables)
                all.push_back(known);
            std::ranges::sort(all);
            return badInput(name,
                            "the model has no input of this name" + didYouMean(nearestNames(name, all)));
        }
        return {};
    }

    /// fails: a fed shape that contradicts what the graph says of it. A written first extent binds nobody: examples are fed one by
    /// one, or several at a time.
    Result<void> checkAxes(const Feed &feed) const
    {
        std::map<std::string, std::pair<std::string, std::int64_t>> named; // who has said it, and what
        for (const NodeId id : m_runner->variables()) {
            const graph::NodeDef &variable = m_graph.node(id);
            const auto given = feed.find(variable.name);
            const auto axes = given == feed.end() ? std::nullopt : dialect::boundAxes(m_graph, variable);
            if (!axes)
                continue;
            const tensor::Shape &shape = given->second.shape();
            if (shape.rank() != axes->size())
                return badInput(variable.name, "an array of shape " + shape.toString(),
                                "rank " + std::to_string(axes->size()));
            for (std::size_t k = 0; k < axes->size(); ++k) {
                const std::string &axis = (*axes)[k];
                const auto number = parseInteger(axis);
                if (number && *number > 0 && k > 0 && *number != shape[k])
                    return badInput(variable.name, "an array of shape " + shape.toString(),
                                    std::to_string(*number) + " at axis " + std::to_string(k));
                if (number || axis.empty())
                    continue;
                const auto [known, isNew] = named.try_emplace(axis, variable.name, shape[k]);
                if (!isNew && known->second.second != shape[k])
                    return badInput(variable.name,
                                    "dimension " + axis + " is " + std::to_string(shape[k]) + ", but "
                                        + std::to_string(known->second.second) + " in " + known->second.first,
                                    "the same in all inputs");
            }
        }
        return {};
    }

    graph::Graph m_graph;
    kernels::BackendChain m_backends;
    std::unique_ptr<GraphRunner> m_runner; ///< refers to both of them
    std::unordered_map<NodeId, Tensor> m_constants;
    std::unordered_set<NodeId>
        m_sparse; ///< parameters of types that can be computed with, but without values
};

Interpreter::Interpreter(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
Interpreter::Interpreter(Interpreter &&) noexcept = default;
Interpreter &Interpreter::operator=(Interpreter &&) noexcept = default;
Interpreter::~Interpreter() = default;

Result<Interpreter> Interpreter::create(const graph::Model &model, kernels::BackendChain backends,
                                        tensor::DType float16As)
{
    HALFTONE_TRY(std::unique_ptr<Impl> impl, Impl::create(model, std::move(backends), float16As));
    return Interpreter(std::move(impl));
}

std::vector<std::string> Interpreter::inputs() const
{
    std::vector<std::string> names;
    for (const NodeId id : m_impl->inputs())
        names.push_back(m_impl->graph().node(id).name);
    return names;
}

Result<std::vector<Tensor>> Interpreter::run(const Feed &feed, const RunOptions &options)
{
    HALFTONE_TRY(std::vector<Tensor> variables, m_impl->variables(feed));
    return m_impl->runner().run(std::move(variables), options);
}

struct Execution::Inside
{
    GraphRunner &runner;
    GraphRunner::State state;
};

Result<Execution> Interpreter::start(const Feed &feed, Prepare prepare)
{
    HALFTONE_TRY(std::vector<Tensor> variables, m_impl->variables(feed));
    GraphRunner &runner = m_impl->runner();
    HALFTONE_TRY(GraphRunner::State state, runner.start(std::move(variables), prepare));
    return Execution(std::unique_ptr<Execution::Inside>(new Execution::Inside{runner, std::move(state)}));
}

Execution::Execution(std::unique_ptr<Inside> inside)
    : m_inside(std::move(inside))
{
}
Execution::Execution(Execution &&) noexcept = default;
Execution &Execution::operator=(Execution &&) noexcept = default;
Execution::~Execution() = default;

bool Execution::isDone() const
{
    return m_inside->runner.isDone(m_inside->state);
}

NodeId Execution::node() const
{
    return m_inside->runner.nextNode(m_inside->state);
}

std::vector<Tensor> Execution::inputs() const
{
    std::vector<Tensor> inputs;
    for (const graph::Entry &entry : m_inside->runner.graph().inputs(node()))
        inputs.push_back(m_inside->state.values[entry.node][entry.output]);
    return inputs;
}

std::size_t Execution::nextBytes() const
{
    return m_inside->runner.nextBytes(m_inside->state);
}

std::vector<kernels::TensorDesc> Execution::outputsOf(NodeId node) const
{
    return m_inside->state.setting->outputsOf(node);
}

double Execution::shareDone() const
{
    return m_inside->runner.shareDone(m_inside->state);
}

std::size_t Execution::peakBytes() const
{
    return m_inside->runner.peakBytes(m_inside->state);
}

std::size_t Execution::scratchBytes() const
{
    return m_inside->runner.scratchBytes(m_inside->state);
}

Result<NodeValue> Execution::step(const Progress &progress, const RunLimits &limits)
{
    return m_inside->runner.step(m_inside->state, {{}, progress, limits});
}

void Execution::give(std::vector<Tensor> outputs)
{
    m_inside->runner.give(m_inside->state, std::move(outputs));
}

std::vector<Tensor> Execution::heads() const
{
    return m_inside->runner.heads(m_inside->state);
}

std::size_t Execution::ownBytes() const
{
    return m_inside->state.ownBytes;
}

Execution Execution::fork() const
{
    auto inside = std::unique_ptr<Inside>(new Inside{m_inside->runner, m_inside->state});
    inside->state.isOwn.assign(inside->state.isOwn.size(), false);
    inside->state.ownBytes = 0;
    return Execution(std::move(inside));
}

void Execution::replace(NodeId node, std::vector<Tensor> outputs)
{
    m_inside->runner.replace(m_inside->state, node, std::move(outputs));
}

Result<graph::Model> withReadableParameters(graph::Model model)
{
    return ReadableParameters().of(std::move(model));
}

Result<graph::Model> ReadableParameters::of(graph::Model model)
{
    for (tensor::Array &array : model.parameters) {
        if (array.storage != tensor::Storage::Dense || !array.shape.hasRank())
            continue;
        const auto known = m_copied.find(array.values.place());
        if (known != m_copied.end() && known->second.source.dtype() == array.values.dtype()
            && known->second.source.shape() == array.values.shape()) {
            array.values = known->second.copy;
            continue;
        }
        HALFTONE_TRY(Tensor copy, readableParameter(array.values));
        if (copy.place() != array.values.place())
            m_copied.insert_or_assign(array.values.place(), Copied{array.values, copy});
        array.values = std::move(copy);
    }
    return model;
}

} // namespace halftone::interpret
