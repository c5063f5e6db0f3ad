#include "core/dialect/tflite/node_fields.h"
#include "core/dialect/tflite/tflite_dialect.h"
#include "core/io/tflite/body_draft.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::io::tflite {
namespace {

namespace names = dialect::tflite;
using graph::Entry;
using tensor::DType;

/// How a row draws a body. It returns why it cannot, or nothing.
struct BodyRow
{
    std::string_view op;
    std::string (*draw)(BodyDraft &);
    std::size_t inputs; ///< that must be there
    bool (*isNeeded)(const BodyDraft &); ///< also on reals without an activation
};

bool always(const BodyDraft &)
{
    return true;
}

bool onlyOnCodes(const BodyDraft &)
{
    return false;
}

std::string drawProduct(BodyDraft &draft, Entry weight, graph::Attributes options, std::string_view op)
{
    std::vector<Entry> inputs{draft.real(0), weight};
    if (draft.has(2))
        inputs.push_back(draft.bias(2));
    draft.give(draft.activated(draft.add(op, std::move(options), inputs)));
    return {};
}

std::string drawConv(BodyDraft &draft)
{
    return drawProduct(draft, draft.real(1), draft.options(), "CONV_2D");
}

/// The weight, (1, height, width, channels · multiplier), becomes that of a convolution in groups.
std::string drawDepthwise(BodyDraft &draft)
{
    if (draft.facts(0).shape.size() != 4 || draft.facts(1).shape.size() != 4)
        return "data or weights do not have four axes";
    graph::Attributes turn;
    turn.set("permutation", "[3,1,2,0]");
    const Entry weight = draft.add("TRANSPOSE", std::move(turn), {draft.real(1)});
    graph::Attributes options = draft.options();
    options.erase("depth_multiplier");
    options.set(std::string(names::kGroupsKey), std::to_string(draft.facts(0).shape[3]));
    const auto &held = draft.facts(1).shape;
    options.set(std::string(names::kWeightShapeKey),
                names::listText(std::array{held[3], held[1], held[2], held[0]}));
    return drawProduct(draft, weight, std::move(options), "CONV_2D");
}

bool isNoMatrix(const BodyDraft &draft)
{
    return draft.facts(0).shape.size() != 2 && draft.option("keep_num_dims") == 0;
}

std::string drawFullyConnected(BodyDraft &draft)
{
    if (draft.facts(1).shape.size() != 2)
        return "weights do not have two axes";
    Entry data = draft.real(0);
    if (isNoMatrix(draft)) {
        graph::Attributes shape;
        shape.set("new_shape", "[-1," + std::to_string(draft.facts(1).shape[1]) + ']');
        data = draft.add("RESHAPE", std::move(shape), {data});
    }
    std::vector<Entry> inputs{data, draft.real(1)};
    if (draft.has(2))
        inputs.push_back(draft.bias(2));
    draft.give(draft.activated(draft.add("FULLY_CONNECTED", draft.options(), inputs)));
    return {};
}

std::string drawRecoded(BodyDraft &draft)
{
    draft.give(draft.real(0));
    return {};
}

/// The axis is the first input.
std::string drawSplit(BodyDraft &draft)
{
    const auto &axis = draft.facts(0).values;
    if (!axis || axis->dtype() != DType::I32 || axis->elementCount() != 1)
        return "its axis is not a constant";
    graph::Attributes options = draft.options();
    options.set("axis", std::to_string(axis->values<std::int32_t>()[0]));
    const bool isRecoded = draft.facts(1).codes != draft.outputFacts(0).codes;
    const std::array inputs{isRecoded ? draft.real(1) : draft.raw(1)};
    const DType type = isRecoded ? DType::F32 : draft.facts(1).type;
    const Entry parts = draft.add("SPLIT", std::move(options), inputs, type, draft.outputCount());
    for (std::uint32_t k = 0; k < draft.outputCount(); ++k)
        isRecoded ? draft.give({parts.node, k, 0}) : draft.giveAsIs({parts.node, k, 0});
    return {};
}

bool dropsAxes(const BodyDraft &draft)
{
    return draft.option("shrink_axis_mask") != 0;
}

std::string drawStridedSlice(BodyDraft &draft)
{
    if (draft.facts(0).codes != draft.outputFacts(0).codes)
        return "its result has codes of another scale";
    std::string dropped;
    for (int k = 0; k < 31; ++k)
        if (((draft.option("shrink_axis_mask") >> k) & 1) != 0)
            dropped.append(dropped.empty() ? "[" : ",").append(std::to_string(k));
    const DType type = draft.facts(0).type;
    const Entry slice = draft.add("STRIDED_SLICE", draft.options(),
                                  {draft.raw(0), draft.raw(1), draft.raw(2), draft.raw(3)}, type);
    graph::Attributes axes;
    axes.set("squeeze_dims", dropped + ']');
    draft.giveAsIs(dropped.empty() ? slice : draft.add("SQUEEZE", std::move(axes), {slice}, type));
    return {};
}

/// Zeros are the codes that stand for 0.
std::string drawPad(BodyDraft &draft)
{
    const auto &codes = draft.facts(0).codes;
    if (!codes || codes != draft.outputFacts(0).codes) {
        draft.give(draft.add("PAD", draft.options(), {draft.real(0), draft.raw(1)}));
        return {};
    }
    graph::Attributes options = draft.options();
    options.set("pad_value", std::to_string(codes->zeros[0]));
    draft.giveAsIs(draft.add("PAD", std::move(options), {draft.raw(0), draft.raw(1)}, draft.facts(0).type));
    return {};
}

std::string drawSquaredDifference(BodyDraft &draft)
{
    const DType type = draft.facts(0).codes ? DType::F32 : draft.facts(0).type;
    draft.give(draft.activated(
        draft.add("SQUARE", {}, {draft.add("SUB", {}, {draft.real(0), draft.real(1)}, type)}, type)));
    return {};
}

/// Of integers: what is left over is subtracted first, so that nothing is rounded.
std::string drawFloorDiv(BodyDraft &draft)
{
    const DType type = draft.facts(0).codes ? DType::F32 : draft.facts(0).type;
    const Entry x = draft.real(0);
    const Entry y = draft.real(1);
    if (tensor::isFloat(type)) {
        draft.give(draft.add("FLOOR", {}, {draft.add("DIV", {}, {x, y}, type)}, type));
        return {};
    }
    const Entry rest = draft.add("FLOOR_MOD", {}, {x, y}, type);
    draft.give(draft.add("DIV", {}, {draft.add("SUB", {}, {x, rest}, type), y}, type));
    return {};
}

/// Channels first around what knows them there only.
std::string drawBlocks(BodyDraft &draft)
{
    const DType type = draft.facts(0).type;
    if (draft.facts(0).codes != draft.outputFacts(0).codes)
        return "its result has codes of another scale";
    graph::Attributes first;
    first.set("permutation", "[0,3,1,2]");
    graph::Attributes last;
    last.set("permutation", "[0,2,3,1]");
    const Entry turned = draft.add("TRANSPOSE", std::move(first), {draft.raw(0)}, type);
    const Entry moved = draft.add(draft.node().op, draft.options(), {turned}, type);
    draft.giveAsIs(draft.add("TRANSPOSE", std::move(last), {moved}, type));
    return {};
}

constexpr std::array kBodyRows{
    BodyRow{"CONV_2D", drawConv, 2, onlyOnCodes},
    BodyRow{"DEPTHWISE_CONV_2D", drawDepthwise, 2, always},
    BodyRow{"FULLY_CONNECTED", drawFullyConnected, 2, isNoMatrix},
    BodyRow{"QUANTIZE", drawRecoded, 1, always},
    BodyRow{"DEQUANTIZE", drawRecoded, 1, onlyOnCodes},
    BodyRow{"SPLIT", drawSplit, 2, always},
    BodyRow{"STRIDED_SLICE", drawStridedSlice, 4, dropsAxes},
    BodyRow{"PAD", drawPad, 2, onlyOnCodes},
    BodyRow{"SQUARED_DIFFERENCE", drawSquaredDifference, 2, always},
    BodyRow{"FLOOR_DIV", drawFloorDiv, 2, always},
    BodyRow{"DEPTH_TO_SPACE", drawBlocks, 1, always},
    BodyRow{"SPACE_TO_DEPTH", drawBlocks, 1, always},
    BodyRow{"UNIDIRECTIONAL_SEQUENCE_LSTM", drawLstm, 1, always},
    BodyRow{"SVDF", drawSvdf, 3, always},
};

/// Operators that move codes as they are, where all have one scale.
constexpr std::array<std::string_view, 19> kMovers{
    "RESHAPE",       "TRANSPOSE", "CONCATENATION", "PACK",    "UNPACK",   "SPLIT_V", "EXPAND_DIMS",
    "SQUEEZE",       "SLICE",     "STRIDED_SLICE", "TILE",    "GATHER",   "SELECT",  "SELECT_V2",
    "READ_VARIABLE", "SHAPE",     "BROADCAST_TO",  "ARG_MAX", "GATHER_ND"};

bool isMoved(std::string_view op, std::span<const TensorFacts *const> inputs,
             std::span<const TensorFacts *const> outputs)
{
    if (std::ranges::find(kMovers, op) == kMovers.end())
        return false;
    const Codes *first = nullptr;
    for (const auto &side : {inputs, outputs}) {
        for (const TensorFacts *const tensor : side) {
            if (!tensor->codes)
                continue;
            if (first != nullptr && *first != *tensor->codes)
                return false;
            first = &*tensor->codes;
        }
    }
    return true;
}

bool hasCodesOrHalf(std::span<const TensorFacts *const> tensors)
{
    return std::ranges::any_of(tensors, [](const TensorFacts *tensor) {
        return tensor->codes.has_value() || tensor->type == DType::F16;
    });
}

/// The operator itself on reals.
std::string drawOnReals(BodyDraft &draft)
{
    std::vector<Entry> inputs;
    for (const std::uint32_t slot : draft.node().slots)
        inputs.push_back(draft.real(slot));
    const TensorFacts &output = draft.outputFacts(0);
    const DType type = output.codes ? DType::F32 : output.type;
    const Entry made = draft.add(draft.node().op, draft.options(), inputs, type, draft.outputCount());
    for (std::uint32_t k = 0; k < draft.outputCount(); ++k)
        draft.give(draft.activated({made.node, k, 0}));
    return {};
}

} // namespace

std::optional<graph::Graph> bodyOf(const graph::NodeDef &node, std::span<const TensorFacts *const> inputs,
                                   std::span<const TensorFacts *const> outputs, std::string &reason)
{
    const std::string *const activation = node.attributes.find("fused_activation_function");
    if (activation != nullptr && *activation == "SIGN_BIT")
        reason = "its activation SIGN_BIT is not known";
    if (outputs.empty() || inputs.empty() || !reason.empty())
        return std::nullopt;
    BodyDraft draft(node, inputs, outputs);
    const auto row = std::ranges::find(kBodyRows, node.op, &BodyRow::op);
    for (std::size_t slot = 0; row != kBodyRows.end() && slot < row->inputs; ++slot)
        if (!draft.has(slot))
            reason = "input " + std::to_string(slot) + " is missing";
    if (!reason.empty())
        return std::nullopt;
    const bool isHalfDecoded = node.op == "DEQUANTIZE" && !inputs[0]->codes; // a cast, which is known
    const bool isNeeded = activation != nullptr || (row != kBodyRows.end() && row->isNeeded(draft))
        || (!isHalfDecoded && !isMoved(node.op, inputs, outputs)
            && (hasCodesOrHalf(inputs) || hasCodesOrHalf(outputs)));
    if (!isNeeded)
        return std::nullopt;
    reason = row != kBodyRows.end() ? row->draw(draft) : drawOnReals(draft);
    if (!reason.empty())
        return std::nullopt;
    return draft.finish();
}

} // namespace halftone::io::tflite
