#pragma once

#include "core/infer/node_types.h"
#include "core/rewrite/conversion.h"
#include "core/rewrite/unique_names.h"

#include <string>
#include <string_view>
#include <vector>

namespace halftone::mixed {

/// Which of its two values of a tensor MXNet's conversion means (core/mixed/RULES.md, section 2).
enum class Side : std::uint8_t
{
    Target,
    Fp32
};

/// The values that a source tensor has in the graph under construction: as it comes, and as cast. Each cast
/// is made once per tensor and side and named as MXNet names it; a name that is taken gets "_1", "_2", …
/// (defect D-duplicate-names of the reference).
class CastTable
{
public:
    /// Keeps references: `source`, `rules` (of the source) and `result` must outlive the table.
    CastTable(const graph::Graph &source, const infer::NodeTypes &rules, tensor::DType target,
              rewrite::Conversion &result);

    /// The tensor in the graph under construction, uncast.
    graph::Entry raw(const graph::Entry &entry) const;
    bool has(const graph::Entry &entry, Side side) const { return slot(entry, side).kind != Kind::Absent; }
    /// Has it without a cast in between?
    bool isNative(const graph::Entry &entry, Side side) const
    {
        return slot(entry, side).kind == Kind::Native;
    }
    void setNative(const graph::Entry &entry, Side side) { slot(entry, side).kind = Kind::Native; }

    /// The tensor on that side: the value there is, else a new cast of the raw one.
    graph::Entry as(const graph::Entry &entry, Side side, rewrite::Reader reader);
    /// A multicast over the raw values of all inputs of `node`; its outputs stand for them in order.
    graph::NodeId multicast(graph::NodeId node);

    tensor::DType typeOf(Side side) const { return side == Side::Target ? m_target : tensor::DType::F32; }

private:
    enum class Kind : std::uint8_t
    {
        Absent,
        Native,
        Cast
    };
    struct Slot
    {
        Kind kind = Kind::Absent;
        std::uint32_t record = 0; ///< of a cast: index into Conversion::casts
    };

    const Slot &slot(const graph::Entry &entry, Side side) const { return m_slots[index(entry, side)]; }
    Slot &slot(const graph::Entry &entry, Side side) { return m_slots[index(entry, side)]; }
    std::size_t index(const graph::Entry &entry, Side side) const
    {
        return (m_firstSlot[entry.node] + entry.output) * 2 + static_cast<std::size_t>(side);
    }

    std::uint32_t addCast(const graph::Entry &entry, Side side, rewrite::Reader reader);
    std::string baseName(const graph::Entry &entry) const;

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    rewrite::Conversion &m_result;
    tensor::DType m_target;
    const dialect::Dialect &m_dialect;
    std::vector<std::uint32_t> m_firstSlot; ///< by source NodeId
    std::vector<Slot> m_slots;
    rewrite::UniqueNames m_names; ///< of inserted nodes, and of source nodes that look like them
};

} // namespace halftone::mixed
