#pragma once

#include "core/base/result.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/type_map.h"
#include "core/ops/op_types.h"
#include "core/tensor/tensor.h"

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace halftone::translate {

/// A value of the graph that is being written.
using Value = graph::Entry;
using Values = std::vector<Value>;

/// Stands for an optional input that is left out.
inline constexpr Value kNone{std::numeric_limits<graph::NodeId>::max(), 0, 0};

/// A graph, and all that is known of it before it is written.
struct Source
{
    const graph::Model &model;
    const infer::ShapeMap &shapes;
    const infer::TypeMap &types;
};

/// The graph under construction, what stands in it for the values of the source, and names.
class GraphDraft
{
public:
    GraphDraft(const Source &source, const dialect::Dialect &target);

    const Source &source() const { return m_source; }
    graph::Graph &graph() { return m_graph; }
    const dialect::Dialect &target() const { return m_target; }

    /// What stands for a value of the source; a variable becomes an input or an initializer when it is first asked for, so that
    /// those that nothing computes with (labels) are left out.
    Value now(const graph::Entry &entry);
    void stand(const graph::Entry &entry, const Value &value);

    // Codes of the source. An end of a range is a tensor there and a number here; sums of codes are the reals that they stand for.
    std::optional<double>
    endOf(const graph::Entry &entry) const; ///< of an output, or a parameter of one element
    void setEnd(const graph::Entry &entry, double end);
    bool isSum(const graph::Entry &entry) const { return m_sums.contains({entry.node, entry.output}); }
    void setSum(const graph::Entry &entry) { m_sums.emplace(entry.node, entry.output); }

    /// What a value of the source is called: as there, but an output that a conversion's cast gives keeps the name that it had
    /// before, and the value before the cast has its type behind it.
    std::string nameOf(const graph::Entry &entry) const;
    /// A tensor that does not depend on what is fed. `name`: what is wished for.
    Value initializer(const std::string &name, tensor::Tensor values);
    /// The tensor of a parameter, wholly known; null for what is fed, or not loaded.
    const tensor::Tensor *parameter(const graph::Entry &entry) const;
    std::string unique(const std::string &wanted);
    /// The heads of the source as they stand now, each with its own name.
    Result<graph::Model> finish();

private:
    void nameOutputsAsBeforeCasts();
    Value variable(graph::NodeId id);
    Value input(graph::NodeId id);

    const Source &m_source;
    const dialect::Dialect &m_target;
    graph::Graph m_graph;
    std::vector<std::vector<Value>> m_now; ///< by NodeId of the source and output
    dialect::StoredArrays m_arrays; ///< by variable
    std::vector<tensor::Array> m_parameters;
    std::unordered_set<std::string> m_names;
    std::map<std::pair<graph::NodeId, std::uint32_t>, std::string> m_renamed; ///< values of the source
    std::map<std::pair<graph::NodeId, std::uint32_t>, double> m_ends; ///< outputs of the source
    std::set<std::pair<graph::NodeId, std::uint32_t>> m_sums; ///< likewise
    std::optional<Error> m_error; ///< of a variable that cannot be said
};

/// Writes one node of the source as one or more nodes.
class NodeWriter
{
public:
    NodeWriter(GraphDraft &draft, graph::NodeId id);

    const graph::NodeDef &node() const { return m_node; }
    std::size_t inputCount() const;
    /// Needs: k < inputCount().
    Value in(std::size_t k = 0) { return m_draft.now(sourceOf(k)); }
    Values inputs();

    const tensor::Shape &shape(std::size_t input) const;
    tensor::DType type(std::size_t input) const;
    /// Of the reals that an input is, or that its codes stand for.
    tensor::DType realType(std::size_t input) const;
    std::optional<double> end(std::size_t input) const { return m_draft.endOf(sourceOf(input)); }
    bool isSum(std::size_t input) const { return m_draft.isSum(sourceOf(input)); }
    void setEnd(std::size_t k, double end) { m_draft.setEnd({m_id, static_cast<std::uint32_t>(k), 0}, end); }
    void setSum() { m_draft.setSum({m_id, 0, 0}); }
    const tensor::Shape &outShape(std::size_t output = 0) const;
    tensor::DType outType(std::size_t output = 0) const;
    /// The tensor of an input that is a parameter; null for every other.
    const tensor::Tensor *parameter(std::size_t input) const { return m_draft.parameter(sourceOf(input)); }
    /// The same, also where a conversion's cast stands between: before the cast rounds it.
    const tensor::Tensor *wideParameter(std::size_t input) const;
    Error refuse(std::string found) const;

    /// A node. Gives its first output; others have the same node.
    Value add(std::string_view op, const Values &inputs, graph::Attributes attributes = {},
              std::size_t outputs = 1);
    /// Initializers of this node.
    Value integers(std::string_view what, const ops::Dims &values);
    Value integer(std::string_view what, std::int64_t value); ///< of rank 0
    Value number(std::string_view what, double value, tensor::DType type); ///< of rank 0
    Value numbers(std::string_view what, const std::vector<double> &values, tensor::DType type,
                  tensor::Shape shape);
    Value floats(std::string_view what, const std::vector<float> &values, tensor::Shape shape);
    Value tensor(std::string_view what, tensor::Tensor values);
    Value cast(const Value &value, tensor::DType from, tensor::DType to);

    /// Output k of the source's node is that value.
    void set(const Value &value, std::size_t k = 0);

    /// The number of axes of an input. fails: Unsupported where it is not known
    Result<std::size_t> rank(std::size_t input = 0) const;
    /// `axis`, counted from the front. fails: as rank(), and BadInput for one beyond it
    Result<std::int64_t> axis(std::int64_t axis, std::size_t input = 0) const;
    Error unknownShape() const;

private:
    graph::Entry sourceOf(std::size_t input) const;

    GraphDraft &m_draft;
    graph::NodeId m_id;
    const graph::NodeDef &m_node;
    std::unordered_set<graph::NodeId> m_own; ///< nodes that were made for this one
};

/// What attributes say, as text.
std::string text(std::int64_t value);
std::string text(double value);
std::string text(const ops::Dims &values);

} // namespace halftone::translate
