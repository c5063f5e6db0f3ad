#include "core/mixed/cast_table.h"

#include "core/dialect/dialect.h"

#include <algorithm>

namespace halftone::mixed {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

namespace {

/// The type rule of a multicast, default direction: the widest of the floats, else the type of the first
/// (M-cast-types).
DType multicastType(std::span<const DType> inputs)
{
    if (std::ranges::find(inputs, DType::F32) != inputs.end())
        return DType::F32;
    return std::ranges::find(inputs, DType::Unknown) != inputs.end() ? DType::Unknown : inputs.front();
}

} // namespace

CastTable::CastTable(const graph::Graph &source, const infer::NodeTypes &rules, DType target,
                     rewrite::Conversion &result)
    : m_source(source)
    , m_rules(rules)
    , m_result(result)
    , m_target(target)
    , m_dialect(dialect::of(source))
{
    std::uint32_t slots = 0;
    m_firstSlot.reserve(source.nodeCount());
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        m_firstSlot.push_back(slots);
        slots += rules.referencedOutputs(id);
        if (const std::string &name = source.node(id).name; m_dialect.isCastName(name))
            m_names.reserve(name);
    }
    m_slots.resize(std::size_t{slots} * 2);
}

Entry CastTable::raw(const Entry &entry) const
{
    return {m_result.fromSource[entry.node], entry.output, entry.version};
}

Entry CastTable::as(const Entry &entry, Side side, rewrite::Reader reader)
{
    Slot &there = slot(entry, side);
    if (there.kind == Kind::Native)
        return raw(entry);
    if (there.kind == Kind::Cast)
        m_result.casts[there.record].readers.push_back(reader);
    else
        there = {Kind::Cast, addCast(entry, side, reader)};
    return {m_result.casts[there.record].cast, 0, entry.version};
}

std::uint32_t CastTable::addCast(const Entry &entry, Side side, rewrite::Reader reader)
{
    const DType type = typeOf(side);
    std::string name = m_names.take(m_dialect.castName(baseName(entry), type));
    const Entry input = raw(entry);
    const DType inputType = m_result.types.of(input);
    const NodeId id = m_result.graph.add(m_dialect.makeCast(std::move(name), type), std::span(&input, 1));
    m_result.types.append(inputType == DType::Unknown || rewrite::isCastable(inputType) ? type : inputType);
    m_result.casts.push_back({id, entry, type, {reader}});
    return static_cast<std::uint32_t>(m_result.casts.size() - 1);
}

NodeId CastTable::multicast(NodeId node)
{
    const auto inputs = m_source.inputs(node);
    std::vector<Entry> raws;
    std::vector<DType> types;
    for (const Entry &entry : inputs) {
        raws.push_back(raw(entry));
        types.push_back(m_result.types.of(raws.back()));
    }
    const DType common = multicastType(types);
    for (DType &type : types) {
        if (rewrite::isCastable(type) || type == DType::Unknown)
            type = common;
    }
    std::string name = m_names.take(m_dialect.multiCastName(baseName(inputs.front())));
    const NodeId id = m_result.graph.add(m_dialect.makeMultiCast(std::move(name), inputs.size()), raws);
    m_result.types.append(types);
    std::vector<rewrite::Reader> readers;
    for (std::uint32_t i = 0; i < inputs.size(); ++i)
        readers.push_back({node, i});
    m_result.casts.push_back({id, inputs.front(), DType::Unknown, std::move(readers)});
    return id;
}

std::string CastTable::baseName(const Entry &entry) const
{
    const graph::NodeDef &node = m_source.node(entry.node);
    if (node.isVariable())
        return node.name;
    const dialect::OpInfo *op = m_rules.op(entry.node);
    return node.name
        + (op == nullptr ? "_" + std::to_string(entry.output) : op->suffixOf(node.attributes, entry.output));
}

} // namespace halftone::mixed
