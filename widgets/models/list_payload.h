#pragma once

#include <QMimeData>

#include <string>
#include <vector>

namespace halftone::widgets {

inline constexpr const char *kOpsMime = "application/x-halftone-ops"; ///< operator names, one a line, UTF-8
inline constexpr const char *kNodesMime = "application/x-halftone-nodes"; ///< node names, one a line, UTF-8

/// What is being moved.
struct ListPayload
{
    std::vector<std::string> ops; ///< canonical
    std::vector<std::string> nodes; ///< names of nodes

    bool isEmpty() const { return ops.empty() && nodes.empty(); }
    bool operator==(const ListPayload &) const = default;
};

ListPayload payloadOf(const QMimeData &data); ///< empty when it holds neither
void writePayload(const ListPayload &payload, QMimeData &data);

} // namespace halftone::widgets
