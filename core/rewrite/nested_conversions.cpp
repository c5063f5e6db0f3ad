#include "core/rewrite/nested_conversions.h"

namespace halftone::rewrite {

CastCounts castTotals(const Conversion &conversion)
{
    CastCounts totals = conversion.castCounts();
    for (const ConvertedBody &body : conversion.bodies) {
        const CastCounts inside = castTotals(body.conversion);
        totals.casts += inside.casts;
        totals.ofAccumulators += inside.ofAccumulators;
        totals.multicasts += inside.multicasts;
        totals.shared += inside.shared;
        totals.quantizes += inside.quantizes;
        totals.dequantizes += inside.dequantizes;
    }
    return totals;
}

std::map<tensor::DType, std::map<std::string, std::size_t>> operatorsByPrecision(const graph::Graph &source,
                                                                                 const Conversion &conversion)
{
    std::map<tensor::DType, std::map<std::string, std::size_t>> counts;
    forConversions(source, conversion, [&counts](const graph::Graph &of, const Conversion &made) {
        for (graph::NodeId id = 0; id < of.nodeCount(); ++id)
            if (!of.isVariable(id) && (made.fromSource[id] != kNoNode || made.isInt8(id)))
                ++counts[made.precisionOf(id)][of.node(id).op];
    });
    return counts;
}

} // namespace halftone::rewrite
