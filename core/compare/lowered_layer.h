#pragma once

#include "core/compare/int8_layer.h"

#include <span>

namespace halftone::compare {

/// How the other model computes a node of the reference.
struct LoweredForm
{
    graph::NodeDefPtr node;
    std::vector<tensor::DType> inputs; ///< types that it computes in
    std::vector<tensor::DType> outputs;
    /// In place of the others, for the node whose value an int8 layer gives: see int8Layer().
    std::shared_ptr<const Int8Layer> int8 = {};
};

/// Nothing when the other model computes the node in the same types, and for a node inside an int8 layer that does not give
/// its value. `inputs`, `outputs`: the types in the reference.
std::optional<LoweredForm> loweredForm(const ComparedModels &models, graph::NodeId node,
                                       std::span<const tensor::DType> inputs,
                                       std::span<const tensor::DType> outputs);

/// fails: Unsupported for models whose types are not known, so that single layers cannot be lowered.
Result<void> needTypes(const ComparedModels &models);

/// One node of the reference as the other model has it, with casts before and behind it: takes and gives values of the
/// reference's types.
class LoweredLayer
{
public:
    /// Nothing where there is no loweredForm().
    static Result<std::optional<LoweredLayer>> create(const ComparedModels &models, graph::NodeId node,
                                                      std::span<const tensor::DType> inputs,
                                                      std::span<const tensor::DType> outputs,
                                                      const kernels::BackendChain &backends);

    /// Does it read what Int8Reads keeps, not the node's inputs? Then it gives the node's first output alone.
    bool isInt8() const { return m_isInt8; }
    /// fails: what running refuses. where = the node
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
