#pragma once

#include "core/plan/coded_values.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace halftone::plan {

/// Makes ops::CodedChain of nodes of a graph, which keeps its number of nodes while it does.
class CodedChains
{
public:
    /// gone  by node: no longer there
    CodedChains(PlanGraph &graph, PlanUses &uses, std::vector<bool> &gone)
        : m_graph(graph)
        , m_uses(uses)
        , m_gone(gone)
    {
    }

    /// Node `k`, where it is a product of codes to codes of constant scales.
    void takeOperator(std::uint32_t k);
    /// Node `k`, which makes codes of `scale`, with what comes before it.
    void takeCode(std::uint32_t k, const ops::CodeScale &scale);
    /// Product `k` of codes, whose result stays real, with what comes behind it.
    void takeReals(std::uint32_t k);
    /// Codes of another scale for what is decoded to `real`, by a new node in `before` or by who makes the codes.
    /// like  the QuantizeLinear that has that scale
    ValueId recoded(ValueId real, const ops::CodeScale &scale, const PlanNode &like,
                    std::vector<PlanNode> &before);

private:
    struct Draft;

    std::optional<Draft> walk(ValueId real, bool mayBeginWithCodes);
    bool takeStep(Draft &draft, ValueId &real);
    bool takeSum(Draft &draft, const PlanNode &node, std::uint32_t k, ValueId &real);
    std::size_t sideOf(const PlanNode &sum) const;
    bool takeProduct(Draft &draft, std::uint32_t k);
    bool takeConv(Draft &draft, const PlanNode &node, const ops::Conv &conv);
    bool takeMatrix(Draft &draft, const PlanNode &node, std::size_t weightAxis);
    bool takeBias(Draft &draft, ValueId bias, std::size_t channels);
    bool beginWith(Draft &draft, ValueId real);
    void beginWithHost(Draft &draft, const DecodedValue &decoded, std::uint32_t host);
    std::uint32_t hostOf(const DecodedValue &decoded, ValueId real) const;
    void put(std::uint32_t k, Draft draft, std::optional<ops::CodeScale> result);
    void addPart(Draft &draft, std::uint32_t k);
    void addDecoder(Draft &draft, ValueId real);
    PlanNode nodeOf(Draft draft);
    void growUses();

    PlanGraph &m_graph;
    PlanUses &m_uses;
    std::vector<bool> &m_gone;
};

} // namespace halftone::plan
