#include "core/tensor/weight_format.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace halftone::tensor {
namespace {

using Kind = WeightFormat::Kind;

struct Row
{
    std::string_view name;
    Kind kind;
    int bits;
    DType codes;
    std::int64_t block = -1; ///< the only one; -1: a person chooses it
};

constexpr std::array kRows{
    Row{"int4", Kind::Int, 4, DType::I4},
    Row{"uint4", Kind::UInt, 4, DType::U4},
    Row{"int8", Kind::Int, 8, DType::I8},
    Row{"uint8", Kind::UInt, 8, DType::U8},
    Row{"int2", Kind::Int, 2, DType::I2},
    Row{"uint2", Kind::UInt, 2, DType::U2},
    Row{"fp8_e4m3", Kind::Float8E4M3, 8, DType::F8E4M3FN, WeightFormat::kChannel},
    Row{"fp8_e5m2", Kind::Float8E5M2, 8, DType::F8E5M2, WeightFormat::kChannel},
    Row{"mxfp8", Kind::MxFp8, 8, DType::F8E4M3FN, 32},
    Row{"mxfp4", Kind::MxFp4, 4, DType::F4E2M1, 32},
    Row{"nvfp4", Kind::NvFp4, 4, DType::F4E2M1, 16},
    Row{"nf4", Kind::Nf4, 4, DType::U4},
};
constexpr std::array<std::int64_t, 5> kBlocks{16, 32, 64, 128, 256};
constexpr std::string_view kChannelName = "channel";

const Row &rowOf(const WeightFormat &format)
{
    return *std::ranges::find_if(
        kRows, [&](const Row &row) { return row.kind == format.kind && row.bits == format.bits; });
}

std::optional<std::int64_t> blockNamed(std::string_view text)
{
    if (text == kChannelName)
        return WeightFormat::kChannel;
    std::int64_t block = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), block);
    const bool isWhole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    return isWhole && std::ranges::find(kBlocks, block) != kBlocks.end() ? std::optional(block)
                                                                         : std::nullopt;
}

} // namespace

DType WeightFormat::codeType() const
{
    return rowOf(*this).codes;
}

int WeightFormat::scaleBits() const
{
    constexpr int kBitsOfReal = 32;
    return kind == Kind::MxFp8 || kind == Kind::MxFp4 || kind == Kind::NvFp4 ? 8 : kBitsOfReal;
}

std::string nameOf(const WeightFormat &format)
{
    const Row &row = rowOf(format);
    std::string name(row.name);
    if (row.block > 0)
        return name;
    return name + '/' + (format.isPerChannel() ? std::string(kChannelName) : std::to_string(format.block));
}

std::optional<WeightFormat> weightFormatNamed(std::string_view name)
{
    const std::size_t slash = name.find('/');
    const auto *const row = std::ranges::find(kRows, name.substr(0, slash), &Row::name);
    if (row == kRows.end())
        return std::nullopt;
    WeightFormat format{row->kind, row->bits, row->block};
    if (row->block > 0)
        return slash == std::string_view::npos ? std::optional(format) : std::nullopt;
    if (slash == std::string_view::npos)
        return std::nullopt;
    const auto block = blockNamed(name.substr(slash + 1));
    if (!block || (row->block == WeightFormat::kChannel && *block != WeightFormat::kChannel))
        return std::nullopt;
    format.block = *block;
    return format;
}

} // namespace halftone::tensor
