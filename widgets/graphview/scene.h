#pragma once

#include "core/io/model_io.h"
#include "core/layout/graph_layout.h"
#include "core/layout/title_row.h"

#include <QFontMetricsF>
#include <QPolygonF>
#include <QRectF>
#include <QString>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace halftone::widgets {

/// Index into Scene::items.
using ItemIndex = std::uint32_t;
inline constexpr ItemIndex kNoItem = 0xFFFFFFFFU;

struct SceneItem
{
    layout::ItemRef ref;
    QRectF rect;
    bool isFrame = false; ///< an open block, drawn behind what is in it
    bool isVariable = false;
    bool isFaint = false; ///< it computes integers of shapes alone
    bool isHead = false; ///< an output of the model comes from it
    std::uint32_t depth = 0;
    QString name;
    QString label; ///< the name, or what tells it from its neighbours where these share a part and are long
    QString detail; ///< the operator and the constants in its box; of a block how many operators
    QString reads; ///< names of its ports: what it reads without an edge, see layout::PlacedPort
    QString gives; ///< and of those at its readers
    std::uint32_t firstNode = 0; ///< of its nodes, see Scene::nodesOf()
    std::uint32_t nodeCount = 0;
};

struct SceneEdge
{
    ItemIndex from = 0;
    ItemIndex to = 0;
    QPolygonF line;
    QRectF bounds;
    std::vector<layout::Wire> wires;
    QString badge; ///< of a pair that stands on it: "u8 · scale 0.02 · zero 128"
};

/// What is drawn, without colours: made once a layout and immutable, so that it can be made beside the window's thread and
/// outlives every recolouring. Coordinates are pixels at 100 %.
class Scene
{
public:
    Scene(std::shared_ptr<const io::LoadedModel> source, std::shared_ptr<const layout::BlockTree> tree,
          std::vector<char> open, layout::Picture picture);

    const graph::Graph &graph() const;
    const layout::BlockTree &tree() const { return *m_tree; }
    const std::shared_ptr<const layout::BlockTree> &sharedTree() const { return m_tree; }
    const std::vector<char> &open() const { return m_open; }
    const std::vector<SceneItem> &items() const { return m_items; }
    const std::vector<SceneEdge> &edges() const { return m_edges; }
    QSizeF size() const { return m_size; }
    const QString &note() const { return m_note; }

    /// The drawn nodes that an item stands for, in topological order.
    std::span<const graph::NodeId> nodesOf(ItemIndex item) const;
    /// The item that stands for a node; no frame.
    ItemIndex itemOf(graph::NodeId node) const { return m_itemOfNode[node]; }
    ItemIndex itemOf(const layout::ItemRef &ref) const;
    QString pathOf(ItemIndex item) const; ///< the blocks around it, the outermost first: "encoder › layers.3"
    /// The edge that carries an input of a node; kNoItem where both ends are one item.
    std::uint32_t edgeOf(graph::NodeId reader, std::uint32_t input) const;
    std::span<const std::uint32_t> edgesInto(ItemIndex item) const;
    std::span<const std::uint32_t> edgesOutOf(ItemIndex item) const;
    /// The items whose values it reads at ports, and those that read its own there.
    std::span<const ItemIndex> portsInto(ItemIndex item) const { return m_portsInto.at(item); }
    std::span<const ItemIndex> portsOutOf(ItemIndex item) const { return m_portsOutOf.at(item); }

    /// The nodes whose values it reads at ports, each once.
    std::span<const graph::NodeId> portSources(ItemIndex item) const { return m_portSources.at(item); }
    /// The item whose ports are named at a place, above its box.
    ItemIndex portsAt(const QPointF &place) const;

    /// What may be seen in a part of the scene, in drawing order.
    void itemsIn(const QRectF &area, std::vector<ItemIndex> &found) const;
    void edgesIn(const QRectF &area, std::vector<std::uint32_t> &found) const;
    /// What parts of a row lines run through.
    std::vector<layout::Span> linesThrough(const QRectF &row) const;
    /// The innermost item at a place.
    ItemIndex itemAt(const QPointF &place) const;

private:
    /// Lists of numbers, one after the other.
    struct Lists
    {
        std::vector<std::uint32_t> first;
        std::vector<std::uint32_t> values;
        static Lists of(const std::vector<std::vector<std::uint32_t>> &lists);
        std::span<const std::uint32_t> at(std::size_t k) const
        {
            return std::span(values).subspan(first[k], first[k + 1] - first[k]);
        }
    };

    void addItems(const layout::Picture &picture);
    void shortenLabels();
    layout::BlockId blockAround(const layout::ItemRef &ref) const;
    void addEdges(layout::Picture &picture);
    void addPorts(const layout::Picture &picture);
    Lists banded(std::size_t count, const std::function<QRectF(std::size_t)> &bounds) const;
    std::pair<std::size_t, std::size_t> bandsOf(const QRectF &area) const;

    std::shared_ptr<const io::LoadedModel> m_source;
    std::shared_ptr<const layout::BlockTree> m_tree;
    std::vector<char> m_open;
    QSizeF m_size;
    QString m_note;
    std::vector<SceneItem> m_items;
    std::vector<SceneEdge> m_edges;
    std::vector<graph::NodeId> m_nodes;
    std::vector<ItemIndex> m_itemOfNode;
    std::unordered_map<std::uint64_t, ItemIndex> m_itemOfRef;
    std::unordered_map<std::uint64_t, std::uint32_t> m_edgeOfWire;
    Lists m_into;
    Lists m_outOf;
    Lists m_portsInto;
    Lists m_portsOutOf;
    Lists m_portSources;
    std::size_t m_bandCount = 1;
    Lists m_itemBands; ///< horizontal bands of the scene: graphs are tall
    Lists m_edgeBands;
};

/// A box's name as there is room for it: of "block 2 of 12: a … b" that is too wide the number alone, which tells more than its
/// letters from here and there; of "layers.17 · Attention" at least the name; another name cut in the middle.
QString titleWithin(const QString &name, double room, const QFontMetricsF &metrics);

/// How large items are, from a font's measures.
layout::ItemSizes itemSizes(const graph::Graph &graph, const layout::BlockTree &tree, double lineHeight);

} // namespace halftone::widgets
