#include "core/quantize/stored_weights.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace halftone::quantize {
namespace {

using dialect::WeightCodes;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;

int bitsOf(DType type)
{
    constexpr int kByte = 8;
    const int packed = tensor::packedBits(type);
    return packed > 0 ? packed : kByte * static_cast<int>(tensor::sizeOf(type));
}

bool isPowerOfTwo(DType type)
{
    return tensor::isFloat(type) && tensor::rangeOf(type).significantBits == 1;
}

std::string nameOfCodes(DType codes)
{
    return codes == DType::F8E4M3FN ? "fp8_e4m3"
        : codes == DType::F8E5M2    ? "fp8_e5m2"
        : codes == DType::F4E2M1    ? "fp4_e2m1"
                                    : std::string(tensor::nameOf(codes));
}

class Collecting
{
public:
    explicit Collecting(const graph::Model &model)
        : m_graph(model.graph)
        , m_pairs(dialect::codedPairsOf(dialect::of(model.graph)))
    {
        for (const tensor::Array &array : model.parameters)
            m_arrays.emplace(dialect::variableOf(m_graph, array.name), &array.values);
        for (NodeId id = 0; m_pairs != nullptr && id < m_graph.nodeCount(); ++id)
            if (const auto codes = codesOf(id); codes && scaleDecode(*codes, id))
                m_ofScales.insert(*scaleDecode(*codes, id));
    }

    std::vector<StoredWeights> all()
    {
        for (NodeId id = 0; m_pairs != nullptr && id < m_graph.nodeCount(); ++id)
            if (const auto codes = codesOf(id); codes && !m_ofScales.contains(id))
                add(*codes, id);
        return m_found;
    }

private:
    std::optional<WeightCodes> codesOf(NodeId id) const
    {
        return m_graph.isVariable(id) ? std::nullopt : m_pairs->weightCodes(m_graph.node(id));
    }

    std::optional<graph::Entry> input(NodeId id, std::size_t slot) const
    {
        const auto inputs = m_graph.inputs(id);
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (m_graph.node(id).slotOf(k) == slot)
                return inputs[k];
        return std::nullopt;
    }

    /// The node that makes the scales of codes.
    std::optional<NodeId> scaleDecode(const WeightCodes &codes, NodeId id) const
    {
        const auto scale = input(id, codes.scales);
        if (!scale || m_graph.isVariable(scale->node) || !m_pairs->isDecode(m_graph.node(scale->node)))
            return std::nullopt;
        return scale->node;
    }

    /// Nothing for a value that is computed.
    std::optional<Tensor> constantOf(const std::optional<graph::Entry> &entry) const
    {
        if (!entry)
            return std::nullopt;
        if (m_graph.isVariable(entry->node)) {
            const auto found = m_arrays.find(m_graph.node(entry->node).name);
            return found == m_arrays.end() ? std::nullopt : std::optional(*found->second);
        }
        auto constant = dialect::of(m_graph).constantOf(m_graph.node(entry->node));
        return constant.ok() ? std::move(constant).value() : std::nullopt;
    }

    void add(const WeightCodes &codes, NodeId id)
    {
        const auto entry = input(id, codes.codes);
        const auto values = constantOf(entry);
        if (!values || values->shape().rank() < 2 || !m_counted.insert({entry->node, entry->output}).second)
            return;
        StoredWeights one;
        one.block = codes.block;
        one.elements
            = codes.elements > 0 ? static_cast<std::uint64_t>(codes.elements) : values->elementCount();
        one.bits = codes.bits > 0 ? codes.bits : bitsOf(values->dtype());
        one.count = 1;
        one.bytes = values->storedBytes();
        const auto zeroPoints = constantOf(input(id, codes.zeroPoints));
        const auto decode = scaleDecode(codes, id);
        auto scales = constantOf(input(id, codes.scales));
        if (decode) {
            scales = constantOf(input(*decode, m_pairs->weightCodes(m_graph.node(*decode))->codes));
            if (const auto factor
                = constantOf(input(*decode, m_pairs->weightCodes(m_graph.node(*decode))->scales)))
                one.bytes += factor->storedBytes();
        }
        one.bytes += (scales ? scales->storedBytes() : 0) + (zeroPoints ? zeroPoints->storedBytes() : 0);
        one.format = formatOf(one, codes, *values, scales, decode.has_value(), zeroPoints.has_value());
        merge(one);
    }

    static std::string formatOf(const StoredWeights &one, const WeightCodes &codes, const Tensor &values,
                                const std::optional<Tensor> &scales, bool areScalesCoded, bool hasZeroPoints)
    {
        if (areScalesCoded && values.dtype() == DType::F4E2M1)
            return "nvfp4";
        if (scales && codes.block > 0 && isPowerOfTwo(scales->dtype()))
            return "mxfp" + std::to_string(one.bits);
        const std::string block = one.block > 0    ? std::to_string(one.block)
            : scales && scales->elementCount() > 1 ? "channel"
                                                   : "tensor";
        const std::string name = codes.bits > 0 ? (hasZeroPoints ? "uint" : "int") + std::to_string(one.bits)
                                                : nameOfCodes(values.dtype());
        return name + '/' + block;
    }

    void merge(const StoredWeights &one)
    {
        const auto same = std::ranges::find(m_found, one.format, &StoredWeights::format);
        if (same == m_found.end()) {
            m_found.push_back(one);
            return;
        }
        same->elements += one.elements;
        same->bytes += one.bytes;
        ++same->count;
    }

    const graph::Graph &m_graph;
    const dialect::CodedPairs *m_pairs;
    std::unordered_map<std::string_view, const Tensor *> m_arrays;
    std::set<NodeId> m_ofScales; ///< nodes that decode scales
    std::set<std::pair<NodeId, std::uint32_t>> m_counted;
    std::vector<StoredWeights> m_found;
};

} // namespace

std::vector<StoredWeights> storedWeights(const graph::Model &model)
{
    return Collecting(model).all();
}

std::optional<double> bitsPerWeight(const std::vector<StoredWeights> &weights)
{
    constexpr double kBits = 8;
    double bytes = 0;
    double elements = 0;
    for (const StoredWeights &one : weights) {
        bytes += static_cast<double>(one.bytes);
        elements += static_cast<double>(one.elements);
    }
    return elements > 0 ? std::optional(kBits * bytes / elements) : std::nullopt;
}

} // namespace halftone::quantize
