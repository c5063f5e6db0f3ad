#include "core/dialect/onnx/element_type.h"

#include <algorithm>
#include <array>

namespace halftone::dialect::onnx {
namespace {

using tensor::DType;

struct Row
{
    std::string_view name;
    DType type;
    int bits;
};

/// By code.
constexpr std::array kRows{
    Row{"undefined", DType::Unknown, 0},
    Row{"float32", DType::F32, 32},
    Row{"uint8", DType::U8, 8},
    Row{"int8", DType::I8, 8},
    Row{"uint16", DType::U16, 16},
    Row{"int16", DType::I16, 16},
    Row{"int32", DType::I32, 32},
    Row{"int64", DType::I64, 64},
    Row{"string", DType::Unknown, 0},
    Row{"bool", DType::Bool, 8},
    Row{"float16", DType::F16, 16},
    Row{"float64", DType::F64, 64},
    Row{"uint32", DType::U32, 32},
    Row{"uint64", DType::U64, 64},
    Row{"complex64", DType::Unknown, 64},
    Row{"complex128", DType::Unknown, 128},
    Row{"bfloat16", DType::BF16, 16},
    Row{"float8e4m3fn", DType::F8E4M3FN, 8},
    Row{"float8e4m3fnuz", DType::Unknown, 8},
    Row{"float8e5m2", DType::F8E5M2, 8},
    Row{"float8e5m2fnuz", DType::Unknown, 8},
    Row{"uint4", DType::U4, 4},
    Row{"int4", DType::I4, 4},
    Row{"float4e2m1", DType::F4E2M1, 4},
    Row{"float8e8m0", DType::F8E8M0, 8},
    Row{"uint2", DType::U2, 2},
    Row{"int2", DType::I2, 2},
};

const Row *rowOf(std::int64_t code)
{
    return code > 0 && code < static_cast<std::int64_t>(kRows.size()) ? &kRows[static_cast<std::size_t>(code)]
                                                                      : nullptr;
}

} // namespace

std::optional<DType> dtypeOfCode(std::int64_t code)
{
    const Row *const row = rowOf(code);
    return row ? std::optional(row->type) : std::nullopt;
}

std::int64_t codeOf(DType type)
{
    return std::ranges::find(kRows.begin() + 1, kRows.end(), type, &Row::type) - kRows.begin();
}

std::string_view nameOfCode(std::int64_t code)
{
    const Row *const row = rowOf(code);
    return row ? row->name : kRows[0].name;
}

bool isForeign(std::string_view name)
{
    return std::any_of(kRows.begin() + 1, kRows.end(),
                       [name](const Row &row) { return row.name == name && row.type == DType::Unknown; });
}

int bitsOfCode(std::int64_t code)
{
    const Row *const row = rowOf(code);
    return row ? row->bits : 0;
}

} // namespace halftone::dialect::onnx
