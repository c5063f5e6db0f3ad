#pragma once

#include "core/infer/infer_shapes.h"
#include "core/infer/infer_types.h"
#include "core/kernels/backend.h"

#include <span>
#include <vector>

/// Inside of GraphRunner: what the inputs of a run tell of all its values.
namespace halftone::interpret {

/// Has it a value?
bool isSet(const tensor::Tensor &tensor);

/// `shapes` and `types` side by side; empty when a shape is open.
std::vector<kernels::TensorDesc> describe(std::span<const tensor::Shape> shapes,
                                          std::span<const tensor::DType> types);

/// Shapes and types of everything, for one set of inputs.
struct Setting
{
    infer::ShapeMap shapes;
    infer::TypeMap types;

    std::vector<kernels::TensorDesc> outputsOf(graph::NodeId id) const; ///< shapes may be open
    std::size_t outputBytes(graph::NodeId id) const; ///< of those whose shapes are known
};

/// Infers settings. Keeps the last one, since most runs have the same.
class Settings
{
public:
    /// order      of execution: the nodes that count
    /// depth      how many bodies the graph lies in
    /// float16As  as Interpreter::create() takes it
    Settings(const graph::Graph &graph, std::span<const graph::NodeId> order, int depth,
             tensor::DType float16As);

    /// Variables whose values may be converted when their types contradict the graph.
    void setConvertible(std::vector<graph::NodeId> variables) { m_convertible = std::move(variables); }

    /// Good until the next call with other inputs.
    /// variables  by NodeId; unset where there is none
    /// constants  by NodeId, or none: what follows from their values is known, too, where the run is given the same
    /// fails: BadInput with the input that all others contradict, or with the node where rules meet
    Result<const Setting *> of(std::span<const tensor::Tensor> variables,
                               std::span<const tensor::Tensor> constants);

private:
    Result<infer::TypeMap> typesOf(std::span<const tensor::Tensor> variables) const;
    /// `error`, which inferring shapes gave, told of the input that all the others contradict, if there is one.
    Error namesInput(Error error, infer::KnownShapes known) const;
    /// holds  by NodeId: which constants are what is run with
    infer::ShapeMap withStaticShapes(infer::ShapeMap shapes, std::span<const tensor::Tensor> constants,
                                     const std::vector<bool> &holds) const;

    const graph::Graph &m_graph;
    std::span<const graph::NodeId> m_order;
    int m_depth;
    tensor::DType m_float16As;
    std::vector<graph::NodeId> m_convertible;
    std::vector<kernels::TensorDesc> m_key; ///< of the variables
    std::vector<bool> m_holds;
    Setting m_last;
};

} // namespace halftone::interpret
