#pragma once

#include "core/backends/cuda/gpu.h"
#include "core/backends/cuda/product.h"
#include "core/plan/plan_edit.h"
#include "core/plan/plan_graph.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::backends::cuda {

/// A product whose data and weight are decoded from float8, each by one constant scale, so that a library multiplies the codes
/// themselves: in a quarter of float32's bytes, and on tensor cores that are twice as fast as those of 16 bits.
struct Float8Product
{
    plan::ValueId data = plan::kNoValue; ///< codes
    tensor::Tensor weight; ///< codes, (columns, depth)
    ProductDesc desc; ///< over dense matrices, with nothing behind it
    std::vector<std::string> decoder; ///< members of what decodes the data
};
using Float8Products = std::unordered_map<std::uint32_t, Float8Product>; ///< by node

/// Those that the device has tensor cores for and whose library takes them.
Float8Products float8Products(const plan::PlanGraph &graph, const plan::PlanUses &uses, Gpu &gpu);

} // namespace halftone::backends::cuda
