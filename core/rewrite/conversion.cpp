#include "core/rewrite/conversion.h"

namespace halftone::rewrite {

tensor::DType Conversion::precisionOf(graph::NodeId source) const
{
    if (isInt8(source))
        return tensor::DType::I8;
    const graph::NodeId id = fromSource[source];
    if (id == kNoNode)
        return tensor::DType::Unknown;
    for (const tensor::DType type : types.outputs(id)) {
        if (tensor::isFloat(type))
            return type;
    }
    for (const graph::Entry &entry : graph.inputs(id)) {
        if (const tensor::DType type = types.of(entry); tensor::isFloat(type))
            return type;
    }
    return types.at(id, 0);
}

CastCounts Conversion::castCounts() const
{
    CastCounts counts;
    for (const InsertedCast &cast : casts) {
        if (cast.kind != CastKind::Cast) {
            ++(cast.kind == CastKind::Quantize ? counts.quantizes : counts.dequantizes);
            continue;
        }
        if (cast.ofAccumulator) {
            ++counts.ofAccumulators;
            continue;
        }
        const bool isMulticast = cast.type == tensor::DType::Unknown;
        counts.multicasts += isMulticast ? 1 : 0;
        counts.casts += isMulticast ? 0 : 1;
        counts.shared += isMulticast ? 0 : cast.readers.size() - 1;
    }
    return counts;
}

} // namespace halftone::rewrite
