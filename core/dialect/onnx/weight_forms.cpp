#include "core/dialect/onnx/weight_forms.h"

#include "core/base/text.h"
#include "core/dialect/onnx/element_type.h"

#include <memory>
#include <string>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;
using tensor::WeightFormat;
using ReaderKind = WeightReader::Kind;

/// Opsets of DequantizeLinear: with an axis, with codes of float8, in blocks and of 4 bits, of float4, with scales of powers of two, of
/// 2 bits.
constexpr int kOpsetOfChannels = 13;
constexpr int kOpsetOfFloat8 = 19;
constexpr int kOpsetOfBlocks = 21;
constexpr int kOpsetOfFloat4 = 23;
constexpr int kOpsetOfPowers = 24;
constexpr int kOpsetOfTwoBits = 25;

bool isTrue(const NodeDef &node, std::string_view key)
{
    const std::string *const text = node.attributes.find(key);
    return text != nullptr && parseInteger(*text).value_or(0) != 0;
}

std::shared_ptr<NodeDef> decodeNode(std::string name, std::uint32_t inputs)
{
    auto def = std::make_shared<NodeDef>(NodeDef{"DequantizeLinear", std::move(name), {}, {}});
    for (std::uint32_t slot = 0; slot < inputs; ++slot)
        def->slots.push_back(slot);
    def->outputs.push_back(def->name + "_Output");
    return def;
}

class OnnxWeightForms final : public WeightForms
{
public:
    std::optional<WeightReader> readerOf(const NodeDef &node) const override
    {
        if (node.op == "MatMul")
            return WeightReader{ReaderKind::Product, 1, 0, false};
        if (node.op == "Gemm" && !isTrue(node, "transA"))
            return WeightReader{ReaderKind::Layer, 1, 0, isTrue(node, "transB")};
        if (node.op == "Conv")
            return WeightReader{ReaderKind::Filters, 1, 0, true};
        const std::string *const axis = node.attributes.find("axis");
        if (node.op == "Gather" && (axis == nullptr || *axis == "0"))
            return WeightReader{ReaderKind::Rows, 0, 1, true};
        return std::nullopt;
    }

    bool isTranspose(const NodeDef &node) const override
    {
        const std::string *const order = node.attributes.find("perm");
        return node.op == "Transpose" && (order == nullptr || *order == "[1,0]");
    }

    int versionFor(const WeightFormat &format) const override
    {
        using Codes = WeightFormat::Kind;
        switch (format.kind) {
        case Codes::Float8E4M3:
        case Codes::Float8E5M2:
            return kOpsetOfFloat8;
        case Codes::MxFp8:
        case Codes::MxFp4:
            return kOpsetOfPowers;
        case Codes::NvFp4:
            return kOpsetOfFloat4;
        case Codes::Nf4:
            return 0;
        default:
            return format.bits == 2                         ? kOpsetOfTwoBits
                : format.bits == 8 && format.isPerChannel() ? kOpsetOfChannels
                                                            : kOpsetOfBlocks;
        }
    }

    bool hasOperator(const WeightFormat &format, ReaderKind kind) const override
    {
        return kind == ReaderKind::Product && format.isInteger() && !format.isPerChannel();
    }

    NodeDefPtr makeDecode(std::string_view weights, std::size_t axis, const WeightFormat &format,
                          tensor::DType result) const override
    {
        using Codes = WeightFormat::Kind;
        const auto def
            = decodeNode(std::string(weights) + "_DequantizeLinear", format.hasZeroPoints() ? 3 : 2);
        def->attributes.set("axis", std::to_string(axis));
        if (!format.isPerChannel())
            def->attributes.set("block_size", std::to_string(format.block));
        if (format.kind == Codes::MxFp8 || format.kind == Codes::MxFp4) // scales say nothing of the result
            def->attributes.set("output_dtype", std::to_string(codeOf(result)));
        return def;
    }

    NodeDefPtr makeScaleDecode(std::string_view weights) const override
    {
        return decodeNode(std::string(weights) + "_scale_DequantizeLinear", 2);
    }

    NodeDefPtr makeOperator(const NodeDef &node, const WeightFormat &format, std::int64_t inputs,
                            std::int64_t outputs) const override
    {
        auto def = std::make_shared<NodeDef>(NodeDef{"com.microsoft.MatMulNBits", node.name, {}, {}});
        def->outputs = node.outputs;
        for (std::uint32_t slot = 0; slot < (format.hasZeroPoints() ? 4U : 3U); ++slot)
            def->slots.push_back(slot);
        const auto set = [&def](const char *key, std::int64_t value) {
            def->attributes.set(key, std::to_string(value));
        };
        set("bits", format.bits);
        set("block_size", format.block);
        set("K", inputs);
        set("N", outputs);
        return def;
    }
};

} // namespace

const WeightForms &weightForms()
{
    static const OnnxWeightForms kForms;
    return kForms;
}

} // namespace halftone::dialect::onnx
