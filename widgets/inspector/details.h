#pragma once

#include "core/infer/type_map.h"
#include "core/session/snapshot.h"

#include <QString>

#include <optional>
#include <span>
#include <vector>

/// What the inspector tells, as text in parts; how it looks is the panel's business.
namespace halftone::widgets {

struct DetailRow
{
    QString label; ///< empty: the value takes the whole line
    QString value;
    std::optional<graph::NodeId> link; ///< the node that the value names
    bool isWarning = false;
    bool isStale = false; ///< a figure from before the last edit
    std::optional<tensor::DType> precision; ///< a swatch before the value
};

struct DetailSection
{
    QString title; ///< empty for the first one
    std::vector<DetailRow> rows;
};

struct Details
{
    QString title;
    QString subtitle;
    std::vector<DetailSection> sections;
};

Details describeNode(const session::Snapshot &snapshot, const session::Figures &figures, graph::NodeId node);
/// Of several nodes: counts.
Details describeNodes(const session::Snapshot &snapshot, const session::Figures &figures,
                      std::span<const graph::NodeId> nodes);
Details describeModel(const session::Snapshot &snapshot, const session::Figures &figures);

/// "its operator is in the fp32 list", …
QString reasonText(policy::Rule rule);
/// What the rule asks for, such as "float16" or "as its inputs come".
QString requestText(policy::Rule rule, tensor::DType target);

} // namespace halftone::widgets
