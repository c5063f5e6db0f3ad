#include "core/backends/onednn/int8_scales.h"

#include <utility>

namespace halftone::backends::onednn {

void Emitter::defer(plan::ValueId value, const Place &place, double factor, std::int32_t zero)
{
    share(place.buffer); // it is read later than its readers' places in the graph say
    m_locations[value] = {{}, {}, false, false, Deferred{place, factor, zero, m_node}};
}

bool Emitter::deferCast(plan::ValueId value, plan::ValueId source)
{
    if (!isDeferred(source) || m_graph.desc(source).dtype != tensor::DType::F32 || isPartOfConcat(value))
        return false;
    const Deferred deferred = *m_locations[source].deferred;
    share(deferred.codes.buffer);
    m_locations[value] = {{}, {}, false, false, deferred};
    return true;
}

Result<Place> Emitter::computeDeferred(plan::ValueId value, const Desc &desc)
{
    const Deferred deferred = *m_locations[value].deferred;
    const Place result = temporary(desc);
    const std::size_t reader = std::exchange(m_node, deferred.node);
    const auto done = rescale(*this, m_graph.nodes[deferred.node], deferred.codes, result, deferred.factor,
                              deferred.zero);
    m_node = reader;
    HALFTONE_CHECK(done);
    return result;
}

} // namespace halftone::backends::onednn
