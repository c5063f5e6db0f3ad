#include "core/ops/window.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"
#include "core/tensor/convert.h"
#include "core/tensor/deferred.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace halftone::plan {
namespace {

using tensor::DType;
using tensor::Tensor;

/// The constant behind a value, also through casts.
const Tensor *constantBehind(const PlanGraph &graph, const PlanUses &uses, ValueId value)
{
    for (;;) {
        if (graph.isConstant(value))
            return &*graph.values[value].constant;
        const std::uint32_t producer = uses.producer[value];
        if (producer == kNoPlanNode || !graph.nodes[producer].op.is<ops::Cast>())
            return nullptr;
        value = graph.nodes[producer].inputs[0];
    }
}

/// How the weights of a layer lie around its output channels: [outer][channel][inner], where groups take turns in
/// `outer`.
struct ChannelPlace
{
    std::size_t channels = 0;
    std::size_t rowsOfGroup = 1; ///< outer extent that belongs to one group
    std::size_t groups = 1;
    std::size_t inner = 1;
};

std::optional<ChannelPlace> channelPlace(const PlanGraph &graph, const PlanNode &layer, const Tensor &weight,
                                         std::int64_t axis)
{
    const auto &result = graph.desc(layer.outputs[0]).shape;
    const auto rank = static_cast<std::int64_t>(result.rank());
    const std::int64_t place = axis < 0 ? axis + rank : axis;
    if (place < 1 || place >= rank || weight.shape().rank() == 0)
        return std::nullopt;
    const auto channels = static_cast<std::size_t>(result[static_cast<std::size_t>(place)]);
    const std::size_t elements = weight.elementCount();
    if (channels == 0 || elements == 0)
        return std::nullopt;
    if (const auto *conv = layer.op.getIf<ops::Conv>()) {
        if (static_cast<std::size_t>(place) != ops::channelAxis(conv->layout, conv->kernel.size()))
            return std::nullopt;
        return ChannelPlace{channels, 1, 1, elements / channels};
    }
    if (const auto *deconv = layer.op.getIf<ops::ConvTranspose>()) {
        if (deconv->layout != ops::Layout::ChannelsFirst || place != 1)
            return std::nullopt;
        const auto groups = static_cast<std::size_t>(deconv->groups);
        const auto rows = static_cast<std::size_t>(weight.shape()[0]);
        return ChannelPlace{channels, rows / groups, groups, elements / (rows * (channels / groups))};
    }
    const auto *full = layer.op.getIf<ops::FullyConnected>();
    if (full == nullptr || place != rank - 1)
        return std::nullopt;
    return ChannelPlace{channels, 1, 1, elements / channels};
}

struct Statistics
{
    const Tensor *gamma = nullptr;
    const Tensor *beta = nullptr;
    const Tensor *mean = nullptr;
    const Tensor *variance = nullptr;
};

Result<std::vector<float>> floats(const Tensor &tensor)
{
    HALFTONE_TRY(const Tensor wide, tensor::castTo(tensor, DType::F32));
    return wide.values<float>();
}

/// What normalisation does to a channel: x · scale + shift.
struct ScaleShift
{
    std::vector<float> scale;
    std::vector<float> shift;
};

Result<ScaleShift> scaleShift(const ops::BatchNormalization &norm, const Statistics &statistics)
{
    HALFTONE_TRY(const std::vector<float> gamma, floats(*statistics.gamma));
    HALFTONE_TRY(const std::vector<float> beta, floats(*statistics.beta));
    HALFTONE_TRY(const std::vector<float> mean, floats(*statistics.mean));
    HALFTONE_TRY(const std::vector<float> variance, floats(*statistics.variance));
    ScaleShift result;
    for (std::size_t c = 0; c < gamma.size(); ++c) {
        const double scale = (norm.fixGamma ? 1.0 : static_cast<double>(gamma[c]))
            / std::sqrt(static_cast<double>(variance[c]) + norm.epsilon);
        result.scale.push_back(static_cast<float>(scale));
        result.shift.push_back(
            static_cast<float>(static_cast<double>(beta[c]) - static_cast<double>(mean[c]) * scale));
    }
    return result;
}

Tensor tensorOf(const std::vector<float> &values, tensor::Shape shape)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(DType::F32, std::move(shape), std::move(bytes));
}

/// Elements of one channel, which lie side by side, times its scale. All weights of a network come by here: they are read where they
/// lie, however they lie, and written once.
void scaleRun(DType type, const std::byte *from, std::size_t count, float factor, std::byte *to)
{
    constexpr std::size_t kAtOnce = 4096;
    std::array<float, kAtOnce> wide;
    const std::size_t size = tensor::sizeOf(type);
    for (std::size_t first = 0; first < count;
         first += kAtOnce, from += kAtOnce * size, to += kAtOnce * size) {
        const std::size_t length = std::min(kAtOnce, count - first);
        tensor::widen(type, from, length, wide.data());
        for (std::size_t k = 0; k < length; ++k)
            wide[k] *= factor;
        tensor::narrow(wide.data(), length, type, to);
    }
}

/// Each element times its channel's scale, rounded once to `type`.
Result<Tensor> scaled(const Tensor &weight, DType type, const ChannelPlace &place,
                      const std::vector<float> &scale)
{
    const bool isDirect = weight.dtype() == type && (type == DType::F32 || tensor::isHalf(type));
    HALFTONE_TRY(const Tensor source, tensor::castTo(weight, isDirect ? type : DType::F32));
    const std::byte *from = source.bytes().data();
    const std::size_t size = source.byteCount();
    const std::shared_ptr<std::byte> bytes = tensor::newBytes(size);
    std::byte *to = bytes.get();
    const std::size_t channelsOfGroup = place.channels / place.groups;
    const std::size_t run = place.inner * tensor::sizeOf(source.dtype());
    for (std::size_t group = 0; group < place.groups; ++group)
        for (std::size_t row = 0; row < place.rowsOfGroup; ++row)
            for (std::size_t c = 0; c < channelsOfGroup; ++c, from += run, to += run)
                scaleRun(source.dtype(), from, place.inner, scale[group * channelsOfGroup + c], to);
    return tensor::castTo(Tensor(source.dtype(), weight.shape(), std::span(bytes.get(), size), bytes), type);
}

struct Folded
{
    Tensor weight;
    Tensor bias; ///< float32, whatever the weight's type: it is added before rounding
};

Result<std::shared_ptr<const Folded>> foldInto(const Tensor &weight, DType type, const Tensor *bias,
                                               const ChannelPlace &place, const ops::BatchNormalization &norm,
                                               const Statistics &statistics)
{
    HALFTONE_TRY(ScaleShift change, scaleShift(norm, statistics));
    HALFTONE_TRY(Tensor scaledWeight, scaled(weight, type, place, change.scale));
    if (bias != nullptr) {
        HALFTONE_TRY(const std::vector<float> old, floats(*bias));
        for (std::size_t c = 0; c < place.channels; ++c)
            change.shift[c] += old[c] * change.scale[c];
    }
    return std::make_shared<const Folded>(
        Folded{std::move(scaledWeight),
               tensorOf(change.shift, tensor::Shape({static_cast<std::int64_t>(place.channels)}))});
}

template <class Op>
bool setHasBias(PlanNode &node)
{
    const auto *op = node.op.getIf<Op>();
    if (op == nullptr)
        return false;
    Op changed = *op;
    changed.hasBias = true;
    node.op = std::move(changed);
    return true;
}

ValueId addConstant(PlanGraph &graph, const Tensor &tensor, const std::string &name)
{
    const ValueId value = graph.addValue({tensor.dtype(), tensor.shape()}, name);
    graph.values[value].constant = tensor;
    return value;
}

bool isLayer(const ops::Operator &op)
{
    return op.is<ops::Conv>() || op.is<ops::ConvTranspose>() || op.is<ops::FullyConnected>();
}

} // namespace

Result<void> foldBatchNorms(PlanGraph &graph, kernels::PlanCache &cache)
{
    const PlanUses uses(graph);
    std::vector<bool> gone(graph.nodes.size());
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        const auto *norm = graph.nodes[k].op.getIf<ops::BatchNormalization>();
        if (norm == nullptr || graph.nodes[k].inputs.size() != 5)
            continue;
        const PlanNode &node = graph.nodes[k];
        const std::uint32_t before = uses.producer[node.inputs[0]];
        if (before == kNoPlanNode || !isLayer(graph.nodes[before].op) || !graph.nodes[before].post.empty()
            || !uses.hasOneReader(node.inputs[0]))
            continue;
        bool readsStatistics = false;
        for (std::size_t output = 1; output < node.outputs.size(); ++output)
            readsStatistics = readsStatistics || !uses.readers[node.outputs[output]].empty()
                || uses.isOutput[node.outputs[output]];
        PlanNode &layer = graph.nodes[before];
        const Tensor *weight = constantBehind(graph, uses, layer.inputs[1]);
        const Tensor *bias = layer.inputs.size() > 2 ? constantBehind(graph, uses, layer.inputs[2]) : nullptr;
        const Statistics statistics{
            constantBehind(graph, uses, node.inputs[1]), constantBehind(graph, uses, node.inputs[2]),
            constantBehind(graph, uses, node.inputs[3]), constantBehind(graph, uses, node.inputs[4])};
        if (readsStatistics || weight == nullptr || !tensor::isFloat(weight->dtype())
            || (layer.inputs.size() > 2 && bias == nullptr) || !statistics.gamma || !statistics.beta
            || !statistics.mean || !statistics.variance)
            continue;
        const auto place = channelPlace(graph, layer, *weight, norm->axis);
        if (!place || statistics.gamma->elementCount() != place->channels
            || statistics.beta->elementCount() != place->channels
            || statistics.mean->elementCount() != place->channels
            || statistics.variance->elementCount() != place->channels)
            continue;
        const DType type = graph.desc(layer.inputs[1]).dtype;
        std::string key = "fold-bn " + std::string(tensor::nameOf(type)) + ' ' + std::to_string(place->groups)
            + ' ' + std::to_string(place->rowsOfGroup) + ' ' + std::to_string(norm->fixGamma);
        key.append(reinterpret_cast<const char *>(&norm->epsilon), sizeof norm->epsilon);
        std::vector<Tensor> sources{*weight, *statistics.gamma, *statistics.beta, *statistics.mean,
                                    *statistics.variance};
        if (bias != nullptr)
            sources.push_back(*bias);
        HALFTONE_TRY(const std::shared_ptr<const Folded> folded, cache.get<Folded>(key, sources, [&] {
            return foldInto(*weight, type, bias, *place, *norm, statistics);
        }));
        layer.inputs.resize(1);
        layer.inputs.push_back(addConstant(graph, folded->weight, layer.members[0] + " folded weight"));
        layer.inputs.push_back(addConstant(graph, folded->bias, layer.members[0] + " folded bias"));
        if (!setHasBias<ops::Conv>(layer) && !setHasBias<ops::ConvTranspose>(layer))
            setHasBias<ops::FullyConnected>(layer);
        layer.outputs = {graph.nodes[k].outputs[0]};
        layer.members.insert(layer.members.end(), graph.nodes[k].members.begin(),
                             graph.nodes[k].members.end());
        gone[k] = true;
    }
    eraseNodes(graph, gone);
    return {};
}

} // namespace halftone::plan
