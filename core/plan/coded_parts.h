#pragma once

#include "core/plan/plan_graph.h"

#include <vector>

namespace halftone::plan {

/// A product of codes to codes (ONNX's QLinearConv and QLinearMatMul) as what it stands for: both sides decoded, a product of float32,
/// codes of that. Its values differ from the product's where a sum lies between two codes to float32's last bit.
/// product  with an ops::CodedConv or ops::CodedMatMul that recodes
/// bias     in float32; kNoValue: none
std::vector<PlanNode> floatParts(PlanGraph &graph, const PlanNode &product, ValueId bias);

} // namespace halftone::plan
