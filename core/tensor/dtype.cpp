#include "core/tensor/dtype.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::tensor {
namespace {

struct TypeFacts
{
    std::string_view name;
    std::size_t size;
};

/// In the order of DType.
constexpr std::array<TypeFacts, 14> kFacts{{{"unknown", 0},
                                            {"float32", 4},
                                            {"float64", 8},
                                            {"float16", 2},
                                            {"bfloat16", 2},
                                            {"int8", 1},
                                            {"uint8", 1},
                                            {"int16", 2},
                                            {"uint16", 2},
                                            {"int32", 4},
                                            {"uint32", 4},
                                            {"int64", 8},
                                            {"uint64", 8},
                                            {"bool", 1}}};

constexpr std::pair<std::string_view, DType> kShortForms[] = {
    {"fp16", DType::F16},  {"half", DType::F16}, {"bf16", DType::BF16},  {"fp32", DType::F32},
    {"float", DType::F32}, {"fp64", DType::F64}, {"double", DType::F64}, {"f16", DType::F16},
    {"f32", DType::F32},   {"f64", DType::F64},
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
