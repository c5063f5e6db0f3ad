#include "widgets/models/casts_by_reader.h"

#include <algorithm>

namespace halftone::widgets {

std::vector<std::uint32_t> castsByReader(const session::Snapshot &snapshot)
{
    std::vector<std::uint32_t> casts(snapshot.graph().nodeCount(), 0);
    if (!snapshot.converted)
        return casts;
    for (const rewrite::InsertedCast &cast : snapshot.converted->conversion.casts) {
        std::vector<graph::NodeId> readers;
        for (const rewrite::Reader &reader : cast.readers) {
            if (reader.node != rewrite::kNoNode)
                readers.push_back(reader.node);
        }
        std::ranges::sort(readers);
        readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
        for (const graph::NodeId reader : readers)
            ++casts[reader];
    }
    return casts;
}

} // namespace halftone::widgets
