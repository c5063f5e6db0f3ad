#pragma once

#include "core/compare/int8_layer.h"

#include <span>

namespace halftone::compare {

/// The form in which the other model computes a node of the reference.
struct LoweredForm
{
    graph::NodeDefPtr node;
    std::vector<tensor::DType> inputs; ///< types in which it computes
    std::vector<tensor::DType> outputs;
    /// Instead of the other fields, for the node whose value an int8 layer computes: see int8Layer().
    std::shared_ptr<const Int8Layer> int8 = {};
};

/// Absent if the other model computes the node in the same types, and for a node inside an int8 layer that does not produce its value.
/// inputs, outputs  types in the reference
std::optional<LoweredForm> loweredForm(const ComparedModels &models, graph::NodeId node,
                                       std::span<const tensor::DType> inputs,
                                       std::span<const tensor::DType> outputs);

/// fails: Unsupported if types are unknown, so that single layers cannot be lowered
Result<void> needTypes(const ComparedModels &models);

/// One node as the other model computes it, between casts: inputs and outputs have the types of the reference.
class LoweredLayer
{
public:
    /// Absent if loweredForm() is.
    static Result<std::optional<LoweredLayer>> create(const ComparedModels &models, graph::NodeId node,
                                                      std::span<const tensor::DType> inputs,
                                                      std::span<const tensor::DType> outputs,
                                                      const kernels::BackendChain &backends);

    /// Does it read the values of Int8Reads instead of the node's inputs? It then gives the first output only.
    bool isInt8() const { return m_isInt8; }
    /// fails: errors of running, where = the node
    Result<std::vector<tensor::Tensor>> run(std::span<const tensor::Tensor> inputs, const Progress &progress);

private:
    explicit LoweredLayer(interpret::Interpreter interpreter)
        : m_interpreter(std::move(interpreter))
    {
    }

    interpret::Interpreter m_interpreter;
    std::vector<std::string> m_names; ///< of the inputs
    bool m_isInt8 = false;
};

} // namespace halftone::compare
