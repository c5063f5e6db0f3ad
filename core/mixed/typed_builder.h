#pragma once

#include "core/mixed/typed_plan.h"
#include "core/rewrite/unique_names.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

/// Mode typed, second half: the graph that a plan describes.
namespace halftone::mixed {

/// A control flow node whose bodies were converted, or a constant that is stored in another type.
using NewBodies = std::unordered_map<graph::NodeId, graph::NodeDefPtr>;

class TypedBuilder
{
public:
    /// Keeps references. `stored`: by NodeId, the type of a variable in the converted graph, and of a constant that may be stored otherwise;
    /// Unknown for other nodes.
    TypedBuilder(const graph::Graph &source, const infer::NodeTypes &rules, const TypedPlan &plan,
                 std::span<const infer::Variable> variables, const std::vector<tensor::DType> &stored,
                 const NewBodies &bodies);

    rewrite::Conversion build();

private:
    static constexpr std::size_t kCastTypes = 3; ///< float32, float16, bfloat16

    void addVariable(graph::NodeId id);
    void addNode(graph::NodeId id);
    void addHeads();
    void markCastParameters();
    void sort();
    tensor::DType typeOf(const graph::Entry &value) const;
    graph::Entry raw(const graph::Entry &value, std::uint32_t version) const;
    graph::Entry as(const graph::Entry &entry, tensor::DType type, rewrite::Reader reader);
    std::uint32_t addCast(const graph::Entry &value, tensor::DType type);

    const graph::Graph &m_source;
    const dialect::Dialect &m_dialect;
    const infer::NodeTypes &m_rules;
    const TypedPlan &m_plan;
    std::span<const infer::Variable> m_variables;
    const std::vector<tensor::DType> &m_stored;
    const NewBodies &m_bodies;
    rewrite::Conversion m_result;
    std::vector<std::array<std::uint32_t, kCastTypes>> m_casts; ///< by output and type: index into casts + 1
    rewrite::UniqueNames m_names; ///< of inserted nodes, and of source nodes that look like them
    std::vector<graph::Entry> m_inputs; ///< scratch
    std::vector<graph::NodeId> m_dependencies; ///< scratch
};

} // namespace halftone::mixed
