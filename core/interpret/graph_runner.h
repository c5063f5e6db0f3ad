#pragma once

#include "core/interpret/interpreter.h"
#include "core/interpret/settings.h"
#include "core/kernels/backend.h"
#include "core/ops/operator.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

/// Inside of Interpreter: a graph and the bodies in it are run by the same class.
namespace halftone::interpret {

/// Why a variable without a value has none: of its type no value is held, or nobody has fed one.
Error notFed(const graph::Graph &graph, graph::NodeId variable);

/// One graph, its kernels, and runners for the bodies of its nodes. Keeps a reference: the graph must outlive it.
class GraphRunner
{
public:
    /// depth      how many bodies the graph lies in
    /// float16As  as Interpreter::create() takes it
    static Result<std::unique_ptr<GraphRunner>> create(const graph::Graph &graph,
                                                       const kernels::BackendChain &backends, int depth,
                                                       tensor::DType float16As);

    const graph::Graph &graph() const { return m_graph; }
    /// The variables that the heads need, in the graph's order.
    std::vector<graph::NodeId> variables() const;
    /// A variable that nothing but the labels of training heads reads, directly or through casts.
    bool isLabel(graph::NodeId variable) const { return m_isLabel[variable]; }

    /// Variables whose values may be converted when their types contradict the graph.
    void setConvertible(std::vector<graph::NodeId> variables)
    {
        m_settings.setConvertible(std::move(variables));
    }

    /// Values of variables that are the same in most runs: kernels may keep them packed. A run that is given other values
    /// uses those. Unset: none.
    void setConstants(std::vector<tensor::Tensor> byNode) { m_constants = std::move(byNode); }

    using Values = std::vector<std::vector<tensor::Tensor>>; ///< by NodeId
    /// A run under way; a copy goes on by itself. Good until start() is called with other shapes or types.
    struct State
    {
        const Setting *setting = nullptr;
        Values values;
        std::vector<std::uint32_t> readers; ///< by NodeId: those that are still to come
        std::vector<bool>
            isOwn; ///< by NodeId: computed by this state, not by the one that it was copied from
        std::size_t ownBytes = 0; ///< of the own values that are still held
        std::size_t next = 0; ///< in the order of execution: a node that is no variable, or the end
        bool keepsKernels = true;
    };

    /// Runs with the variables' values, by NodeId; those of labels may be missing (unknown type). Values need not be
    /// aligned.
    Result<std::vector<tensor::Tensor>> run(std::vector<tensor::Tensor> variables, const RunOptions &options);

    /// The same at the caller's pace.
    Result<State> start(std::vector<tensor::Tensor> variables, Prepare prepare = Prepare::Ahead);
    bool isDone(const State &state) const { return state.next == m_order.size(); }
    graph::NodeId nextNode(const State &state) const { return m_order[state.next]; }
    std::size_t
    nextBytes(const State &state) const ///< of the next node's outputs, as far as shapes are known
    {
        return state.setting->outputBytes(nextNode(state));
    }
    double shareDone(const State &state) const;
    std::size_t peakBytes(const State &state) const; ///< as Execution::peakBytes()
    std::size_t scratchBytes(const State &state) const; ///< as Execution::scratchBytes()
    Result<NodeValue> step(State &state, const RunOptions &options);
    void give(State &state, std::vector<tensor::Tensor> outputs) const;
    std::vector<tensor::Tensor> heads(const State &state) const;
    void replace(State &state, graph::NodeId id, std::vector<tensor::Tensor> outputs) const;

private:
    struct Prepared
    {
        kernels::Operation operation;
        std::unique_ptr<kernels::Kernel> kernel;
        std::string name;
    };
    GraphRunner(const graph::Graph &graph, const kernels::BackendChain &backends, int depth,
                tensor::DType float16As);

    Result<void> readOperators();
    void findLabels();
    void countReaders();

    Result<void> prepareAll(const Setting &setting, const Values &values);
    /// Those of a node's inputs that are set as constants and have that value in this run.
    std::vector<tensor::Tensor> constantsOf(graph::NodeId id, const Values &values) const;
    Result<Prepared *> prepare(graph::NodeId id, kernels::Operation operation);

    Result<void> bindVariables(const Setting &setting, std::vector<tensor::Tensor> variables,
                               Values &values) const;
    Result<std::vector<tensor::Tensor>> runKernel(graph::NodeId id, const State &state,
                                                  std::span<const tensor::Tensor> inputs,
                                                  const RunOptions &options, std::string_view &kernel);
    Result<void> checkBytes(std::span<const kernels::TensorDesc> outputs, const RunLimits &limits) const;
    void skipVariables(State &state) const;
    void release(graph::NodeId id, State &state) const;

    Result<std::vector<tensor::Tensor>> runBodies(graph::NodeId id, const Setting &setting,
                                                  std::span<const tensor::Tensor> inputs,
                                                  const RunOptions &options);
    Error atNode(graph::NodeId id, Error error) const;

    const graph::Graph &m_graph;
    const kernels::BackendChain &m_backends;
    int m_depth;
    tensor::DType m_float16As;
    std::vector<graph::NodeId> m_order; ///< what the heads need
    std::vector<ops::Operator> m_ops; ///< by NodeId
    std::unordered_map<graph::NodeId, tensor::Tensor> m_held; ///< what nodes hold themselves
    std::vector<tensor::Tensor> m_constants; ///< by NodeId; empty: none
    std::vector<std::size_t> m_shown; ///< by NodeId: how many outputs somebody may read
    std::vector<bool> m_isLabel; ///< by NodeId
    std::vector<std::uint32_t> m_readers; ///< by NodeId: inputs and heads that read the node
    std::vector<std::vector<Prepared>> m_prepared; ///< by NodeId; the latest last
    std::map<graph::NodeId, std::vector<std::unique_ptr<GraphRunner>>> m_bodies;
    Settings m_settings;
};

} // namespace halftone::interpret
