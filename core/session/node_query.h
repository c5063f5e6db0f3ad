#pragma once

#include "core/session/query.h"
#include "core/session/snapshot.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::session {

/// What a query may ask of the nodes of a model, for finding them and for filtering layers alike.
std::span<const QueryField> nodeFields();

/// Queries that hold of some node of nearly every model, to be shown as examples.
std::span<const std::string_view> nodeQueryExamples();

struct FoundNodes
{
    std::vector<graph::NodeId> nodes; ///< the operators, then the variables, each in topological order
    std::vector<std::string>
        notes; ///< what was asked for and no node has: not measured yet, or no such value
};

/// Needs: a query over nodeFields().
FoundNodes findNodes(const Query &query, const Snapshot &snapshot, const Figures &figures);

/// By NodeId of the source: how many inserted casts and multicasts it reads.
std::vector<std::uint32_t> castsByReader(const Snapshot &snapshot);

} // namespace halftone::session
