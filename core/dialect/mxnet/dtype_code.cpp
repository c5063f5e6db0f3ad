#include "core/dialect/mxnet/dtype_code.h"

#include <algorithm>
#include <array>

namespace halftone::dialect::mxnet {
namespace {

using tensor::DType;

/// By code.
constexpr std::array<DType, 13> kTypes{DType::F32, DType::F64, DType::F16,  DType::U8,  DType::I32,
                                       DType::I8,  DType::I64, DType::Bool, DType::I16, DType::U16,
                                       DType::U32, DType::U64, DType::BF16};

} // namespace

std::optional<DType> dtypeOfCode(std::int64_t code)
{
    return code >= 0 && code < static_cast<std::int64_t>(kTypes.size())
        ? std::optional(kTypes[static_cast<std::size_t>(code)])
        : std::nullopt;
}

std::int32_t codeOf(DType type)
{
    const auto *const at = std::ranges::find(kTypes, type);
    return at == kTypes.end() ? -1 : static_cast<std::int32_t>(at - kTypes.begin());
}

} // namespace halftone::dialect::mxnet
