#include "core/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace halftone::tensor {
namespace {

struct TypeFacts
{
    std::string_view name;
    std::size_t size;
    FloatRange range = {};
};

/// In the order of DType.
constexpr std::array<TypeFacts, kTypes> kFacts{{{"unknown", 0},
                                                {"float32", 4, {24, 0x1.fffffep127, 0x1p-126}},
                                                {"float64", 8, {53, 0x1.fffffffffffffp1023, 0x1p-1022}},
                                                {"float16", 2, {11, 65504, 0x1p-14}},
                                                {"bfloat16", 2, {8, 0x1.fep127, 0x1p-126}},
                                                {"int8", 1},
                                                {"uint8", 1},
                                                {"int16", 2},
                                                {"uint16", 2},
                                                {"int32", 4},
                                                {"uint32", 4},
                                                {"int64", 8},
                                                {"uint64", 8},
                                                {"bool", 1},
                                                {"float8_e4m3fn", 1, {4, 448, 0x1p-6}},
                                                {"float8_e5m2", 1, {3, 57344, 0x1p-14}},
                                                {"tf32", 4, {11, 0x1.ffcp127, 0x1p-126}},
                                                {"posit16", 2, {12, 0x1p56, 0x1p-56}},
                                                {"int4", 1},
                                                {"uint4", 1},
                                                {"int2", 1},
                                                {"uint2", 1},
                                                {"float4_e2m1fn", 1, {2, 6, 1}},
                                                {"float8_e8m0fnu", 1, {1, 0x1p127, 0x1p-127}}}};

constexpr std::pair<std::string_view, DType> kShortForms[] = {
    {"fp16", DType::F16},          {"half", DType::F16},          {"bf16", DType::BF16},
    {"fp32", DType::F32},          {"float", DType::F32},         {"fp64", DType::F64},
    {"double", DType::F64},        {"f16", DType::F16},           {"f32", DType::F32},
    {"f64", DType::F64},           {"float4e2m1", DType::F4E2M1}, {"float8e4m3fn", DType::F8E4M3FN},
    {"float8e5m2", DType::F8E5M2}, {"float8e8m0", DType::F8E8M0},
};

} // namespace

std::size_t sizeOf(DType type)
{
    return kFacts[static_cast<std::size_t>(type)].size;
}

std::string_view nameOf(DType type)
{
    return kFacts[static_cast<std::size_t>(type)].name;
}

const FloatRange &rangeOf(DType type)
{
    assert(isFloat(type));
    return kFacts[static_cast<std::size_t>(type)].range;
}

std::optional<DType> dtypeNamed(std::string_view name)
{
    for (std::size_t i = 1; i < kFacts.size(); ++i) {
        if (kFacts[i].name == name)
            return static_cast<DType>(i);
    }
    const auto *const at = std::ranges::find(kShortForms, name, &std::pair<std::string_view, DType>::first);
    return at == std::end(kShortForms) ? std::nullopt : std::optional(at->second);
}

} // namespace halftone::tensor
