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

/// Slots of weights and biases, in the order input, output, forget, cell.
constexpr std::array<std::size_t, 4> kWeights{1, 4, 2, 3};
constexpr std::array<std::size_t, 4> kRecurrentWeights{5, 8, 6, 7};
constexpr std::array<std::size_t, 4> kBiases{12, 15, 13, 14};
/// Peepholes, projection and normalisation.
constexpr std::array<std::size_t, 9> kExtras{9, 10, 11, 16, 17, 20, 21, 22, 23};
constexpr std::size_t kOutputState = 18;
constexpr std::size_t kCellState = 19;
constexpr std::int64_t kMostSteps = 512; ///< a body holds the nodes of each

std::string lstmObstacle(const BodyDraft &draft)
{
    for (const auto &slots : {kWeights, kRecurrentWeights, kBiases})
        for (const std::size_t slot : slots)
            if (!draft.has(slot))
                return "its input gate is coupled to its forget gate";
    for (const std::size_t slot : kExtras)
        if (draft.has(slot))
            return "it has peepholes, a projection or a normalisation";
    if (!draft.has(kOutputState) || !draft.has(kCellState))
        return "its states are missing";
    if (draft.facts(0).shape.size() != 3 || draft.facts(1).shape.size() != 2
        || draft.facts(kRecurrentWeights[0]).shape.size() != 2)
        return "its inputs have other axes than time, batch and features";
    const std::int64_t steps = draft.facts(0).shape[draft.option("time_major") != 0 ? 0 : 1];
    if (steps < 1 || steps > kMostSteps)
        return "it takes " + std::to_string(steps) + " steps; up to " + std::to_string(kMostSteps)
            + " are computed";
    return {};
}

/// One layer, step by step.
class LstmSteps
{
public:
    explicit LstmSteps(BodyDraft &draft)
        : m_draft(draft)
        , m_recurrent(joined(draft, parts(kRecurrentWeights), 0))
        , m_output(draft.real(kOutputState))
        , m_cell(draft.real(kCellState))
        , m_clip(draft.realOption("cell_clip"))
    {
    }

    /// What the gates get of the data: (steps, batch, 4 · hidden).
    Entry ofData(Entry data)
    {
        graph::Attributes lastAxis;
        lastAxis.set("keep_num_dims", "1");
        const std::array layer{data, joined(m_draft, parts(kWeights), 0), joined(m_draft, parts(kBiases), 0)};
        return m_draft.add("FULLY_CONNECTED", std::move(lastAxis), layer);
    }

    /// `data`: (batch, 4 · hidden). Gives the new output.
    Entry next(Entry data)
    {
        const Entry sums = both("ADD", data, m_draft.add("FULLY_CONNECTED", {}, {m_output, m_recurrent}));
        graph::Attributes four;
        four.set("axis", "1");
        four.set("num_splits", "4");
        const std::array all{sums};
        const Entry gates = m_draft.add("SPLIT", std::move(four), all, DType::F32, 4);
        const auto gate = [this, &gates](std::string_view op, std::uint32_t k) {
            return m_draft.add(op, {}, {Entry{gates.node, k, 0}});
        };
        const Entry kept = both("MUL", gate("LOGISTIC", 2), m_cell);
        m_cell = clipped(both("ADD", kept, both("MUL", gate("LOGISTIC", 0), gate("TANH", 3))));
        m_cell = m_draft.stored(m_cell, kCellState);
        const Entry shown = m_draft.add("TANH", {}, {m_cell});
        m_output = m_draft.stored(both("MUL", gate("LOGISTIC", 1), shown), kOutputState);
        return m_output;
    }

private:
    std::vector<Entry> parts(const std::array<std::size_t, 4> &slots)
    {
        std::vector<Entry> entries;
        for (const std::size_t slot : slots)
            entries.push_back(m_draft.real(slot));
        return entries;
    }
    Entry both(std::string_view op, Entry a, Entry b) { return m_draft.add(op, {}, {a, b}); }
    Entry clipped(Entry cell)
    {
        if (m_clip <= 0)
            return cell;
        const Entry below = both("MINIMUM", cell, m_draft.constant(m_clip));
        return both("MAXIMUM", below, m_draft.constant(-m_clip));
    }

    BodyDraft &m_draft;
    Entry m_recurrent;
    Entry m_output;
    Entry m_cell;
    float m_clip;
};

} // namespace

std::string drawLstm(BodyDraft &draft)
{
    if (std::string obstacle = lstmObstacle(draft); !obstacle.empty())
        return obstacle;
    const bool isTimeFirst = draft.option("time_major") != 0;
    const std::int64_t steps = draft.facts(0).shape[isTimeFirst ? 0 : 1];
    LstmSteps layer(draft);
    const std::array all{layer.ofData(isTimeFirst ? draft.real(0) : turned(draft, draft.real(0)))};
    graph::Attributes each;
    each.set("axis", "0");
    each.set("num", std::to_string(steps));
    const Entry data = draft.add("UNPACK", std::move(each), all, DType::F32, static_cast<std::size_t>(steps));
    std::vector<Entry> outputs;
    for (std::uint32_t step = 0; step < steps; ++step)
        outputs.push_back(layer.next({data.node, step, 0}));
    graph::Attributes along;
    along.set("axis", isTimeFirst ? "0" : "1");
    draft.give(draft.add("PACK", std::move(along), outputs));
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
