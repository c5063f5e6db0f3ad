#include "core/dialect/tflite/node_fields.h"
#include "core/io/tflite/body_draft.h"

#include <array>
#include <utility>

/// Recurrent layers, from states of zeros.
namespace halftone::io::tflite {
namespace {

using graph::Entry;
using tensor::DType;

Entry reshaped(BodyDraft &draft, Entry value, std::vector<std::int64_t> shape)
{
    graph::Attributes attributes;
    attributes.set("new_shape", dialect::tflite::listText(shape));
    return draft.add("RESHAPE", std::move(attributes), {value});
}

Entry joined(BodyDraft &draft, std::span<const Entry> parts, std::int64_t axis)
{
    graph::Attributes attributes;
    attributes.set("axis", std::to_string(axis));
    return draft.add("CONCATENATION", std::move(attributes), parts);
}

Entry turned(BodyDraft &draft, Entry value)
{
    graph::Attributes attributes;
    attributes.set("permutation", "[1,0,2]");
    return draft.add("TRANSPOSE", std::move(attributes), {value});
}

Entry zeros(BodyDraft &draft, std::int64_t count)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(float));
    return draft.constant(tensor::Tensor::owning(DType::F32, tensor::Shape{count}, std::move(bytes)));
}

/// Slots of weights and biases, in the order input, output, forget, cell.
constexpr std::array<std::size_t, 4> kWeights{1, 4, 2, 3};
constexpr std::array<std::size_t, 4> kRecurrentWeights{5, 8, 6, 7};
constexpr std::array<std::size_t, 4> kBiases{12, 15, 13, 14};
/// Peepholes, projection and normalisation.
constexpr std::array<std::size_t, 9> kExtras{9, 10, 11, 16, 17, 20, 21, 22, 23};

std::string lstmObstacle(const BodyDraft &draft)
{
    for (const auto &slots : {kWeights, kRecurrentWeights, kBiases})
        for (const std::size_t slot : slots)
            if (!draft.has(slot))
                return "its input gate is coupled to its forget gate";
    for (const std::size_t slot : kExtras)
        if (draft.has(slot))
            return "it has peepholes, a projection or a normalisation";
    if (draft.node().attributes.find("cell_clip") != nullptr && draft.option("cell_clip") != 0)
        return "it clips its cell state";
    if (draft.facts(0).shape.size() != 3 || draft.facts(1).shape.size() != 2
        || draft.facts(5).shape.size() != 2)
        return "its inputs have other axes than time, batch and features";
    return {};
}

} // namespace

std::string drawLstm(BodyDraft &draft)
{
    if (std::string obstacle = lstmObstacle(draft); !obstacle.empty())
        return obstacle;
    const std::int64_t hidden = draft.facts(5).shape[1];
    const std::int64_t features = draft.facts(1).shape[1];
    const auto parts = [&draft](const std::array<std::size_t, 4> &slots) {
        std::vector<Entry> entries;
        for (const std::size_t slot : slots)
            entries.push_back(draft.real(slot));
        return entries;
    };
    const bool isTimeFirst = draft.option("time_major") != 0;
    const Entry data = isTimeFirst ? draft.real(0) : turned(draft, draft.real(0));
    const Entry weights = reshaped(draft, joined(draft, parts(kWeights), 0), {1, 4 * hidden, features});
    const Entry recurrent
        = reshaped(draft, joined(draft, parts(kRecurrentWeights), 0), {1, 4 * hidden, hidden});
    std::vector<Entry> biases = parts(kBiases);
    biases.push_back(zeros(draft, 4 * hidden));
    const Entry bias = reshaped(draft, joined(draft, biases, 0), {1, 8 * hidden});
    graph::Attributes attributes;
    attributes.set("hidden_size", std::to_string(hidden));
    const std::array inputs{data, weights, recurrent, bias};
    const Entry states = draft.add("LSTM", std::move(attributes), inputs, DType::F32, 3);
    graph::Attributes direction;
    direction.set("squeeze_dims", "[1]");
    const Entry output = draft.add("SQUEEZE", std::move(direction), {states});
    draft.give(isTimeFirst ? output : turned(draft, output));
    return {};
}

/// Of states (batch, filters · memory) the oldest column falls out, and the products of data and feature weights are the newest.
std::string drawSvdf(BodyDraft &draft)
{
    constexpr std::size_t kFeatures = 1;
    constexpr std::size_t kTimes = 2;
    constexpr std::size_t kBias = 3;
    constexpr std::size_t kState = 4;
    const std::int64_t rank = draft.option("rank");
    if (!draft.has(kTimes) || !draft.has(kState) || draft.facts(0).shape.size() != 2
        || draft.facts(kTimes).shape.size() != 2 || draft.facts(kFeatures).shape.size() != 2 || rank < 1)
        return "its inputs have other axes than batch and features";
    const std::int64_t batch = draft.facts(0).shape[0];
    const std::int64_t filters = draft.facts(kTimes).shape[0];
    const std::int64_t memory = draft.facts(kTimes).shape[1];
    if (filters % rank != 0)
        return "its filters are no multiple of its rank";
    const std::array layer{draft.real(0), draft.real(kFeatures)};
    const Entry newest = reshaped(draft, draft.add("FULLY_CONNECTED", {}, layer), {batch, filters, 1});
    const Entry states = reshaped(draft, draft.real(kState), {batch, filters, memory});
    graph::Attributes later;
    later.set("begin", "[0,0,1]");
    later.set("size", "[-1,-1,-1]");
    const std::array columns{draft.add("SLICE", std::move(later), {states}), newest};
    const Entry products = draft.add("MUL", {}, {joined(draft, columns, 2), draft.real(kTimes)});
    const auto summed = [&draft](Entry value) {
        graph::Attributes axes;
        axes.set("axes", "[2]");
        return draft.add("SUM", std::move(axes), {value});
    };
    Entry sums = summed(reshaped(draft, summed(products), {batch, filters / rank, rank}));
    if (draft.has(kBias))
        sums = draft.add("ADD", {}, {sums, draft.real(kBias)});
    draft.give(draft.activated(sums));
    return {};
}

} // namespace halftone::io::tflite
