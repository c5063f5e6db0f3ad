#include "core/base/field.h"

#include <array>

namespace halftone {

std::string_view nameOf(Field field)
{
    using namespace std::string_view_literals;
    constexpr std::array kNames{
        ""sv,
        "model"sv,
        "parameters"sv,
        "policy"sv,
        "target type"sv,
        "mode"sv,
        "target operator"sv,
        "fp32 operator"sv,
        "widest operator"sv,
        "neutral operator"sv,
        "int8 operator"sv,
        "condition"sv,
        "exclusion"sv,
        "excluded operator"sv,
        "override"sv,
        "input type"sv,
        "shape"sv,
        "inputs"sv,
        "preprocessing"sv,
        "labels"sv,
        "examples"sv,
        "batch"sv,
        "layers"sv,
        "effect"sv,
        "memory"sv,
        "backend"sv,
        "opset"sv,
        "hardware"sv,
        "accumulator"sv,
        "optimise"sv,
        "weights"sv,
        "weight method"sv,
        "weight form"sv,
    };
    static_assert(kNames.size() == static_cast<std::size_t>(Field::WeightForm) + 1);
    return kNames[static_cast<std::size_t>(field)];
}

} // namespace halftone
