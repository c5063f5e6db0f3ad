#pragma once

#include "core/graph/model.h"
#include "core/tensor/dtype.h"
#include "tests/support/build_graph.h"
#include "tests/support/typed/random.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace halftone::test {

using Dims = std::vector<std::int64_t>;

/// A tensor of the graph that is being made up.
struct Value
{
    graph::Entry entry;
    Dims dims;
    tensor::DType type = tensor::DType::Unknown;

    std::size_t rank() const { return dims.size(); }
    bool isFloat() const { return tensor::isFloat(type); }
};

std::int64_t elementCount(const Dims &dims);
std::string textOf(const Dims &dims); ///< "(2, 4)"

/// An input of a new node: a tensor that is there, or a parameter of a shape, in the type that the operator wants.
struct Operand
{
    Operand(const Value &tensor)
        : value(tensor)
        , dims(tensor.dims)
    {
    }
    Operand(Dims shape, std::string name)
        : dims(std::move(shape))
        , role(std::move(name))
    {
    }
    std::optional<Value> value;
    Dims dims;
    std::string role; ///< "weight"; ends the parameter's name
};

/// A graph that grows node by node and stays well typed.
class RandomBuilder
{
public:
    explicit RandomBuilder(std::uint64_t seed)
        : random(seed)
    {
    }

    Random random;

    Value data(std::string name, Dims dims, tensor::DType type);
    /// Often one that is there already, when it has this shape and type.
    Value parameter(const std::string &name, const Dims &dims, tensor::DType type);
    /// Adds the node unless the type oracle refuses: nothing is added then. `outputs`: shapes of the visible outputs.
    bool add(const std::string &op, graph::Attributes attributes, const std::vector<Operand> &operands,
             std::vector<Dims> outputs, std::vector<std::shared_ptr<const graph::Graph>> bodies = {});
    /// Adds a node that computes the same as one that is there, in other words or in the same.
    bool addTwin();

    /// A tensor that `fits`, rather a young one; nothing when there is none.
    std::optional<Value> pick(const std::function<bool(const Value &)> &fits);
    std::optional<Value> pickLike(const Value &value); ///< of the same shape and type, maybe itself

    std::size_t nodeCount() const { return m_graph.nodeCount(); }
    const std::vector<std::string> &dataNames() const { return m_dataNames; }
    /// Chooses heads; what none of them needs is dropped. Parameters have arrays of zeros.
    graph::Model finish();

private:
    std::string freshName(const std::string &op);
    Value variable(std::string name, const Dims &dims, tensor::DType type, bool declares);
    std::vector<graph::NodeId> someDependencies();
    std::vector<graph::Entry> chooseHeads();

    graph::Graph m_graph = emptyGraph();
    std::vector<Value> m_values; ///< all that operators may read
    std::vector<std::vector<Value>> m_outputs; ///< by NodeId
    std::vector<Value> m_parameters;
    std::vector<graph::NodeId> m_states; ///< variables that an operator writes
    std::vector<std::string> m_dataNames;
    std::unordered_set<std::string> m_names;
    std::vector<bool> m_isRead; ///< by NodeId
};

} // namespace halftone::test
