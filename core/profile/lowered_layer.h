#pragma once

#include "core/profile/layer_compare.h"

#include <span>

namespace halftone::profile {

/// One node of the reference as the other model has it, with casts before and behind it: takes and gives values of the
/// reference's types.
class LoweredLayer
{
public:
    /// Nothing when the other model computes the node in the same types. `inputs`, `outputs`: the types in the reference.
    static Result<std::optional<LoweredLayer>> create(const ComparedModels &models, graph::NodeId node,
                                                      std::span<const tensor::DType> inputs,
                                                      std::span<const tensor::DType> outputs,
                                                      const runtime::BackendChain &backends);

    /// fails: what running refuses. where = the node
    Result<std::vector<tensor::Tensor>> run(std::span<const tensor::Tensor> inputs, const Progress &progress);

private:
    explicit LoweredLayer(runtime::Interpreter interpreter)
        : m_interpreter(std::move(interpreter))
    {
    }

    runtime::Interpreter m_interpreter;
    std::vector<std::string> m_names; ///< of the inputs
};

} // namespace halftone::profile
