#pragma once

#include "core/interpret/body.h"
#include "core/kernels/backend.h"

/// Loop and Scan of ONNX (Operators.md, "Loop" and "Scan"): outputs are the last values of what is carried, then what the steps give,
/// stacked. `known`: types of the outputs, and their shapes as far as they are known; a loop of no step gives empty stacks of these.
///
/// fails  BadInput where steps give something of another shape than those before them, and where inputs have another number of
///        steps than others
namespace halftone::interpret {

Result<std::vector<tensor::Tensor>> runLoop(const Body &body, const infer::BodyBinding &binding,
                                            std::vector<tensor::Tensor> inputs,
                                            const std::vector<kernels::TensorDesc> &known,
                                            const RunOptions &options);

Result<std::vector<tensor::Tensor>> runScan(const Body &body, const infer::BodyBinding &binding,
                                            std::vector<tensor::Tensor> inputs,
                                            const std::vector<kernels::TensorDesc> &known,
                                            const RunOptions &options);

/// SequenceMap of ONNX (Operators.md, "SequenceMap"): the body runs once for each tensor of the lists, which are the sliced inputs; the
/// outputs are lists of what it gives, of `types`, empty where the lists are.
///
/// fails  BadInput for lists of different lengths and for what is no list
Result<std::vector<tensor::Tensor>> runMap(const Body &body, std::vector<tensor::Tensor> inputs,
                                           const std::vector<tensor::DType> &types,
                                           const RunOptions &options);

} // namespace halftone::interpret
