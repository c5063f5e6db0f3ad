#pragma once

#include "core/infer/node_types.h"
#include "core/mixed/typed_plan.h"
#include "core/ops/operator.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halftone::mixed {

/// What an operator does to the number of elements, which says whether a cast is better before or behind it.
enum class Moves : std::uint8_t
{
    Product, ///< none: it multiplies matrices, and gains from the target type by itself
    No, ///< none: it computes otherwise
    Safe, ///< likewise, and gives numbers no larger than a small multiple of those that it reads
    Some, ///< drops or repeats elements
    All, ///< every output element is an input element and the other way round
};

Moves movesOf(const ops::Operator &op);

/// Asks operators what they would have to read for their floats to come in another type. One at a time: its answer holds until
/// the next question.
class Retyping
{
public:
    /// All three must live as long as this.
    Retyping(const graph::Graph &source, const infer::NodeTypes &rules, const TypedPlan &plan)
        : m_source(source)
        , m_rules(rules)
        , m_plan(plan)
    {
    }

    /// Finds the inputs that must have `type` for the node's float outputs to have it; false when its rule has it otherwise, or
    /// when the node writes to one of them.
    bool ask(graph::NodeId id, tensor::DType type);

    /// The same for an operator that is to read all its floats in one type, a condition or an index too.
    bool askAll(graph::NodeId id, tensor::DType type);

    /// The inputs that have the type of the outputs, ascending.
    const std::vector<std::size_t> &tied() const { return m_tied; }
    /// Some float input is not among them: a condition, an index.
    bool isUntied() const { return m_isUntied; }

private:
    enum class Seed
    {
        Outputs,
        FirstInput,
        OnlyFirstInput
    };
    bool askFrom(graph::NodeId id, tensor::DType type, Seed seed);
    void wantOutputs(graph::NodeId id, tensor::DType type);
    bool isAccepted(graph::NodeId id);
    void seedInputs(graph::NodeId id, tensor::DType type, Seed seed);
    bool tie(graph::NodeId id, tensor::DType type);

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    const TypedPlan &m_plan;
    std::vector<tensor::DType> m_in, m_out, m_wanted;
    std::vector<std::size_t> m_tied;
    bool m_isUntied = false;
};

} // namespace halftone::mixed
