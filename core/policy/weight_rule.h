#pragma once

#include "core/tensor/weight_format.h"

#include <optional>
#include <string>

namespace halftone::policy {

/// The format in which weights are stored.
struct WeightRule
{
    std::string
        target; ///< an operator, a node or a pattern written /…/; empty: every MatMul and Gemm with constant weights
    std::optional<tensor::WeightFormat> format; ///< absent ("none"): as they are

    bool operator==(const WeightRule &) const = default;
};

enum class WeightMethod : std::uint8_t; ///< policy/weight_choice.h
enum class WeightForm : std::uint8_t;

} // namespace halftone::policy
