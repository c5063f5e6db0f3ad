#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/typed_model.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// Runtimes that others deploy in (ONNX Runtime, OpenVINO), each in a process of its own. They are rows of the table of backends
/// (backends::backendTable(), `wholeModels`): planningBackend("ort", …) makes plans. Here stands what only they do.
namespace halftone::runtimes {

/// Which runtime is to run a model, and how.
struct RuntimeUse
{
    std::string backend; ///< "ort", "ort:PROVIDER", "openvino" or "openvino:DEVICE"
    unsigned threads = 0; ///< 0: one per core
    tensor::DType precision = tensor::DType::Unknown; ///< as backends::planningBackend()
    std::size_t memory = std::size_t{1} << 30; ///< bytes of values that may be held at once
};

/// One value of the list that was asked for, by its place there.
using TakeValue = std::function<Result<void>(std::size_t place, const tensor::Tensor &value)>;

/// What is to be said beside the values: operators whose outputs are marked are not fused.
inline constexpr const char *kMarkingNote
    = "values of layers are taken as outputs of the model, so that the runtime does not fuse across them";

/// Runs the model with `wanted` as its outputs, in groups whose values fit into `use.memory` (at least one at a time), and hands over each
/// value.
/// inputs  by name of the variable; what is missing is 0
/// fails: as Backend::plan() and LatencyPlan::run(); errors of `take`
Result<void> layerValues(const RuntimeUse &use, const infer::TypedModel &model,
                         std::span<const graph::Entry> wanted,
                         const std::unordered_map<std::string, tensor::Tensor> &inputs, const TakeValue &take,
                         const Progress &progress = {});

} // namespace halftone::runtimes
