#include "core/plan/coded_chains.h"

#include "core/plan/coded_parts.h"

#include <algorithm>
#include <utility>

namespace halftone::plan {

using ops::CodedChain;
using ops::CodedStep;
using tensor::DType;

/// A chain that is being found, from its end to its begin.
struct CodedChains::Draft
{
    CodedChain chain;
    std::vector<ValueId>
        inputs; ///< of the begin: data[, weight][, bias], and the addends that a host brought
    std::vector<CodedStep> steps; ///< the last one first
    std::vector<ValueId> addends; ///< likewise
    std::vector<std::uint32_t> parts; ///< nodes that compute the same
    std::vector<PlanNode> hostParts; ///< the same before these
    std::vector<std::uint32_t> gone; ///< nodes that nobody needs any more
    std::vector<std::string> hostMembers;
    std::string opName;
    ValueId bias = kNoValue; ///< to be added to the product before it; its node is among the parts
};

namespace {

bool multiplies(const ops::Operator &op)
{
    return op.is<ops::Conv>() || op.is<ops::MatMul>() || op.is<ops::Gemm>() || op.is<ops::FullyConnected>();
}

bool isSum(const ops::Operator &op)
{
    const auto *binary = op.getIf<ops::Binary>();
    return binary != nullptr && binary->kind == ops::BinaryKind::Add;
}

std::size_t sumsIn(const std::vector<CodedStep> &steps)
{
    return static_cast<std::size_t>(
        std::ranges::count(steps, CodedStep::Kind::Add, [](const CodedStep &step) { return step.kind; }));
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string> &second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// A vector that is added to each row of `desc`.
bool isRowVector(const kernels::TensorDesc &vector, const kernels::TensorDesc &desc)
{
    const std::size_t rank = vector.shape.rank();
    return rank > 0 && rank <= desc.shape.rank() && desc.shape.rank() > 1
        && vector.shape[rank - 1] == desc.shape[desc.shape.rank() - 1]
        && vector.shape.elementCount() == vector.shape[rank - 1];
}

} // namespace

/// Who makes the codes that are decoded to `real`, where that is a chain and nobody else reads either.
std::uint32_t CodedChains::hostOf(const DecodedValue &decoded, ValueId real) const
{
    const std::uint32_t host = m_uses.producer[decoded.codes];
    const bool isChain = host != kNoPlanNode && host < m_gone.size() && !m_gone[host]
        && m_graph.nodes[host].op.is<CodedChain>();
    return isChain && m_uses.hasOneReader(decoded.codes) && m_uses.hasOneReader(real) ? host : kNoPlanNode;
}

void CodedChains::addPart(Draft &draft, std::uint32_t k)
{
    if (std::ranges::find(draft.parts, k) == draft.parts.end())
        draft.parts.push_back(k);
}

/// The node that decodes `real`, where one does.
void CodedChains::addDecoder(Draft &draft, ValueId real)
{
    const std::uint32_t k = m_uses.producer[real];
    if (k != kNoPlanNode && m_graph.nodes[k].op.is<ops::DequantizeLinear>())
        addPart(draft, k);
}

/// The side of a sum that goes on; the other one is decoded.
std::size_t CodedChains::sideOf(const PlanNode &sum) const
{
    std::size_t best = 2;
    std::size_t most = 0;
    for (std::size_t side = 0; side < 2; ++side) {
        if (!decodedValue(m_graph, m_uses, sum.inputs[1 - side]))
            continue;
        const auto own = decodedValue(m_graph, m_uses, sum.inputs[side]);
        const std::uint32_t host = own ? hostOf(*own, sum.inputs[side]) : kNoPlanNode;
        std::size_t score = own ? 1 : m_gone.size() + 3; // a product that is not coded in between comes first
        if (host != kNoPlanNode
            && m_graph.nodes[host].op.as<CodedChain>().product != CodedChain::Product::None)
            score = host + 2; // the later of two: its result is at hand
        if (score > most) {
            most = score;
            best = side;
        }
    }
    return best;
}

bool CodedChains::takeSum(Draft &draft, const PlanNode &node, std::uint32_t k, ValueId &real)
{
    const kernels::TensorDesc &result = m_graph.desc(node.outputs[0]);
    for (std::size_t side = 0; side < 2; ++side) {
        const ValueId vector = node.inputs[1 - side];
        if (draft.bias != kNoValue || !m_graph.isConstant(vector)
            || !isRowVector(m_graph.desc(vector), result) || m_graph.desc(node.inputs[side]) != result)
            continue;
        draft.bias = vector;
        addPart(draft, k);
        real = node.inputs[side];
        return true;
    }
    const std::size_t side = sideOf(node);
    if (side > 1 || draft.bias != kNoValue || m_graph.desc(node.inputs[0]) != result
        || m_graph.desc(node.inputs[1]) != result)
        return false;
    const DecodedValue addend = *decodedValue(m_graph, m_uses, node.inputs[1 - side]);
    draft.steps.push_back({CodedStep::Kind::Add, {}, addend.scale});
    draft.addends.push_back(addend.codes);
    addPart(draft, addend.node);
    addPart(draft, k);
    real = node.inputs[side];
    return true;
}

/// The node that gives `real` to one reader; `real` becomes what it reads.
bool CodedChains::takeStep(Draft &draft, ValueId &real)
{
    const std::uint32_t k = m_uses.producer[real];
    const PlanNode &node = m_graph.nodes[k];
    bool isTaken = false;
    if (const auto function = ops::elementFunction(node.op); function && draft.bias == kNoValue) {
        draft.steps.push_back({CodedStep::Kind::Function, *function, {}});
        addPart(draft, k);
        real = node.inputs[0];
        isTaken = true;
    } else if (isSum(node.op)) {
        isTaken = takeSum(draft, node, k, real);
    }
    if (isTaken)
        draft.gone.push_back(k);
    return isTaken;
}

bool CodedChains::takeBias(Draft &draft, ValueId bias, std::size_t channels)
{
    const auto reals = constantReals(m_graph, m_uses, bias, channels);
    if (!reals)
        return false;
    addDecoder(draft, bias);
    draft.inputs.push_back(addVector(m_graph, *reals, std::string(m_graph.values[bias].name)));
    draft.chain.hasBias = true;
    return true;
}

bool CodedChains::takeConv(Draft &draft, const PlanNode &node, const ops::Conv &conv)
{
    const auto data = decodedValue(m_graph, m_uses, node.inputs[0]);
    if (!data || conv.layout != ops::Layout::ChannelsFirst || draft.bias != kNoValue)
        return false;
    auto weight = decodedWeight(m_graph, m_uses, node.inputs[1], 0);
    if (!weight)
        return false;
    draft.chain.product = CodedChain::Product::Window;
    draft.chain.conv = conv;
    draft.chain.data = data->scale;
    draft.chain.weightSteps = std::move(weight->steps);
    draft.inputs = {data->codes, weight->codes};
    addPart(draft, data->node);
    addDecoder(draft, node.inputs[1]);
    const auto channels = static_cast<std::size_t>(m_graph.desc(weight->codes).shape[0]);
    return node.inputs.size() < 3 || takeBias(draft, node.inputs[2], channels);
}

bool CodedChains::takeMatrix(Draft &draft, const PlanNode &node, std::size_t weightAxis)
{
    const auto data = decodedValue(m_graph, m_uses, node.inputs[0]);
    if (!data || m_graph.desc(node.inputs[1]).shape.rank() != 2
        || m_graph.desc(node.inputs[0]).shape.rank() < 2)
        return false;
    auto weight = decodedWeight(m_graph, m_uses, node.inputs[1], weightAxis);
    if (!weight)
        return false;
    draft.chain.product = CodedChain::Product::Matrix;
    draft.chain.transposesWeight = weightAxis == 0;
    draft.chain.data = data->scale;
    draft.chain.weightSteps = std::move(weight->steps);
    draft.inputs = {data->codes, weight->codes};
    addPart(draft, data->node);
    addDecoder(draft, node.inputs[1]);
    const auto columns = static_cast<std::size_t>(m_graph.desc(weight->codes).shape[weightAxis]);
    const bool hasOwn = node.inputs.size() > 2;
    if (hasOwn && draft.bias != kNoValue)
        return false;
    const ValueId bias = hasOwn ? node.inputs[2] : draft.bias;
    return bias == kNoValue || takeBias(draft, bias, columns);
}

bool CodedChains::takeProduct(Draft &draft, std::uint32_t k)
{
    const PlanNode node = m_graph.nodes[k];
    draft.opName = node.opName;
    bool isTaken = false;
    if (const auto *conv = node.op.getIf<ops::Conv>())
        isTaken = takeConv(draft, node, *conv);
    else if (const auto *product = node.op.getIf<ops::MatMul>())
        isTaken = product->form == ops::MatMul::Form::Stretched && !product->transposeA
            && !product->transposeB && takeMatrix(draft, node, 1);
    else if (const auto *gemm = node.op.getIf<ops::Gemm>())
        isTaken = !gemm->transposeA && gemm->alpha == 1 && (!gemm->hasAddend || gemm->beta == 1)
            && gemm->axis == -2 && takeMatrix(draft, node, gemm->transposeB ? 0 : 1);
    else if (const auto *full = node.op.getIf<ops::FullyConnected>())
        isTaken = (!full->flatten || m_graph.desc(node.inputs[0]).shape.rank() == 2)
            && takeMatrix(draft, node, 0);
    if (!isTaken)
        return false;
    addPart(draft, k);
    draft.gone.push_back(k);
    return true;
}

void CodedChains::beginWithHost(Draft &draft, const DecodedValue &decoded, std::uint32_t host)
{
    const PlanNode &node = m_graph.nodes[host];
    draft.chain = node.op.as<CodedChain>();
    draft.steps.push_back({CodedStep::Kind::Recode, {}, *draft.chain.result});
    draft.inputs = node.inputs;
    draft.hostParts = node.parts;
    draft.hostMembers = node.members;
    draft.opName = node.opName;
    draft.gone.push_back(host);
    addPart(draft, decoded.node);
}

/// What is decoded to `real`, or the chain that makes these codes.
bool CodedChains::beginWith(Draft &draft, ValueId real)
{
    const DecodedValue decoded = *decodedValue(m_graph, m_uses, real);
    if (draft.bias != kNoValue)
        return false;
    const std::uint32_t host = hostOf(decoded, real);
    const auto isTooMuch
        = [&draft](const CodedChain &chain) { // without a product there is one sum, which begins it
              return chain.product == CodedChain::Product::None && sumsIn(draft.steps) > 0;
          };
    if (host != kNoPlanNode && !isTooMuch(m_graph.nodes[host].op.as<CodedChain>())) {
        beginWithHost(draft, decoded, host);
        return true;
    }
    const std::size_t sums = sumsIn(draft.steps);
    if (sums > 1 || (sums == 1 && draft.steps.back().kind != CodedStep::Kind::Add))
        return false;
    draft.chain.data = decoded.scale;
    draft.inputs = {decoded.codes};
    addPart(draft, decoded.node);
    return true;
}

/// From `real` back to codes.
std::optional<CodedChains::Draft> CodedChains::walk(ValueId real, bool mayBeginWithCodes)
{
    Draft draft;
    for (bool isFirst = true;; isFirst = false) {
        if (decodedValue(m_graph, m_uses, real))
            return mayBeginWithCodes && beginWith(draft, real) ? std::optional(std::move(draft))
                                                               : std::nullopt;
        const std::uint32_t maker = m_uses.producer[real];
        if (maker == kNoPlanNode || maker >= m_gone.size() || m_gone[maker]
            || !m_graph.nodes[maker].post.empty() || m_graph.nodes[maker].outputs[0] != real
            || m_graph.desc(real).dtype != DType::F32 || (!isFirst && !m_uses.hasOneReader(real)))
            return std::nullopt;
        if (multiplies(m_graph.nodes[maker].op))
            return takeProduct(draft, maker) ? std::optional(std::move(draft)) : std::nullopt;
        if (!takeStep(draft, real))
            return std::nullopt;
    }
}

/// The node of a chain, without outputs.
PlanNode CodedChains::nodeOf(Draft draft)
{
    PlanNode node;
    node.opName = std::move(draft.opName);
    node.members = std::move(draft.hostMembers);
    node.parts = std::move(draft.hostParts);
    std::ranges::sort(draft.parts);
    for (const std::uint32_t part : draft.parts) {
        node.parts.push_back(m_graph.nodes[part]);
        if (!m_graph.nodes[part].op.is<ops::DequantizeLinear>())
            node.members = joined(std::move(node.members), m_graph.nodes[part].members);
    }
    draft.chain.steps.insert(draft.chain.steps.end(), draft.steps.rbegin(), draft.steps.rend());
    node.inputs = std::move(draft.inputs);
    node.inputs.insert(node.inputs.end(), draft.addends.rbegin(), draft.addends.rend());
    if (node.opName.empty() && !node.parts.empty())
        node.opName
            = node.parts.size() > 2 ? node.parts[node.parts.size() - 2].opName : node.parts.back().opName;
    node.op = std::move(draft.chain);
    return node;
}

void CodedChains::put(std::uint32_t k, Draft draft, std::optional<ops::CodeScale> result)
{
    draft.chain.result = result;
    addPart(draft, k);
    const std::vector<std::uint32_t> gone = draft.gone;
    PlanNode node = nodeOf(std::move(draft));
    node.outputs = m_graph.nodes[k].outputs;
    for (const std::uint32_t old : gone) {
        m_gone[old] = true;
        m_graph.nodes[old] = {};
    }
    m_graph.nodes[k] = std::move(node);
    m_gone[k] = false;
    growUses();
}

void CodedChains::growUses()
{
    m_uses.producer.resize(m_graph.values.size(), kNoPlanNode);
    m_uses.readers.resize(m_graph.values.size());
    m_uses.isOutput.resize(m_graph.values.size());
}

void CodedChains::takeCode(std::uint32_t k, const ops::CodeScale &scale)
{
    const ValueId real = m_graph.nodes[k].inputs[0];
    const bool isShared = !m_uses.hasOneReader(real) && !decodedValue(m_graph, m_uses, real);
    auto draft = isShared ? std::nullopt : walk(real, true);
    if (draft)
        put(k, std::move(*draft), scale);
}

void CodedChains::takeReals(std::uint32_t k)
{
    if (!multiplies(m_graph.nodes[k].op) || m_graph.nodes[k].outputs.empty())
        return;
    ValueId end = m_graph.nodes[k].outputs[0];
    while (m_uses.hasOneReader(end)) {
        const std::uint32_t reader = m_uses.readers[end][0];
        if (reader >= m_gone.size() || m_gone[reader] || m_graph.nodes[reader].outputs.empty())
            break;
        const PlanNode &node = m_graph.nodes[reader];
        const bool addsVector = end == m_graph.nodes[k].outputs[0] && isSum(node.op)
            && m_graph.isConstant(node.inputs[node.inputs[0] == end ? 1 : 0]);
        if (!addsVector && !ops::elementFunction(node.op))
            break;
        end = node.outputs[0];
    }
    auto draft = walk(end, false);
    if (draft)
        put(m_uses.producer[end], std::move(*draft), std::nullopt);
}

void CodedChains::takeOperator(std::uint32_t k)
{
    const PlanNode node = m_graph.nodes[k];
    const auto *conv = node.op.getIf<ops::CodedConv>();
    const auto *product = node.op.getIf<ops::CodedMatMul>();
    const bool isConv = conv != nullptr && conv->recodes && conv->conv.layout == ops::Layout::ChannelsFirst;
    const bool isMatrix = product != nullptr && product->recodes
        && m_graph.desc(node.inputs[3]).shape.rank() == 2 && m_graph.desc(node.inputs[0]).shape.rank() > 1;
    if (!isConv && !isMatrix)
        return;
    Draft draft;
    const auto data
        = codeScaleAt(m_graph, m_graph.desc(node.inputs[0]).dtype, node.inputs[1], node.inputs[2]);
    const auto result
        = codeScaleAt(m_graph, m_graph.desc(node.outputs[0]).dtype, node.inputs[6], node.inputs[7]);
    const std::size_t axis = isConv ? 0 : 1;
    auto weight = data && result && !m_graph.isConstant(node.inputs[0])
        ? codedWeight(m_graph, node.inputs[3], node.inputs[4], node.inputs[5], axis)
        : std::nullopt;
    if (!weight)
        return;
    draft.inputs = {node.inputs[0], weight->codes};
    const auto channels = static_cast<std::size_t>(m_graph.desc(weight->codes).shape[axis]);
    if (node.inputs.size() > 8) { // counted as the sums are
        auto sums = wholeNumbersAt(m_graph, node.inputs[8]);
        if (!sums || sums->size() != channels)
            return;
        std::vector<float> bias(channels);
        for (std::size_t c = 0; c < channels; ++c)
            bias[c] = static_cast<float>((*sums)[c] * data->step
                                         * double{weight->steps[weight->steps.size() == 1 ? 0 : c]});
        draft.inputs.push_back(addVector(m_graph, bias, node.members.front() + "_bias"));
        draft.chain.hasBias = true;
    }
    draft.chain.product = isConv ? CodedChain::Product::Window : CodedChain::Product::Matrix;
    if (isConv)
        draft.chain.conv = conv->conv;
    draft.chain.data = *data;
    draft.chain.weightSteps = std::move(weight->steps);
    draft.opName = node.opName;
    const ValueId bias = draft.chain.hasBias ? draft.inputs[2] : kNoValue;
    put(k, std::move(draft), result);
    // A device without kernels for the chain has at least float32's.
    m_graph.nodes[k].parts = floatParts(m_graph, node, bias);
    growUses();
}

ValueId CodedChains::recoded(ValueId real, const ops::CodeScale &scale, const PlanNode &like,
                             std::vector<PlanNode> &before)
{
    const DecodedValue decoded = *decodedValue(m_graph, m_uses, real);
    const ValueId codes
        = m_graph.addValue({scale.type, m_graph.desc(real).shape}, std::string(m_graph.values[real].name));
    growUses();
    PlanNode code{like.op, like.opName, like.members, like.inputs, {codes}, {}};
    code.inputs[0] = real;
    const std::uint32_t host = hostOf(decoded, real);
    if (host == kNoPlanNode) {
        PlanNode made{CodedChain{.data = decoded.scale, .result = scale},
                      like.opName,
                      like.members,
                      {decoded.codes},
                      {codes},
                      {}};
        made.parts = {m_graph.nodes[decoded.node], std::move(code)};
        before.push_back(std::move(made));
        return codes;
    }
    PlanNode &node = m_graph.nodes[host];
    CodedChain chain = node.op.as<CodedChain>();
    chain.steps.push_back({CodedStep::Kind::Recode, {}, *chain.result});
    chain.result = scale;
    node.op = std::move(chain);
    node.parts.push_back(m_graph.nodes[decoded.node]);
    node.parts.push_back(std::move(code));
    node.outputs = {codes};
    m_uses.producer[codes] = host;
    return codes;
}

} // namespace halftone::plan
