#include "widgets/graphview/graph_view.h"

/// Which blocks are open.
namespace halftone::widgets {

std::vector<char> GraphView::openBlocks() const
{
    return m_scene ? m_scene->open() : std::vector<char>();
}

void GraphView::restoreOpenBlocks(std::vector<char> open)
{
    if (!m_scene) { // the first layout is under way
        if (m_controller->snapshot())
            startLayout(nullptr, std::move(open), std::nullopt, true);
    } else if (open.size() == m_scene->open().size() && !open.empty()) {
        open[layout::kRoot] = 1;
        setFolding(std::move(open), std::nullopt);
    }
}

void GraphView::layOutAgain()
{
    if (!m_scene)
        return;
    m_isPatient = true;
    m_cameraAfter = m_camera;
    startLayout(m_scene->sharedTree(), m_scene->open(), std::nullopt, false);
}

void GraphView::setFolding(std::vector<char> open, std::optional<layout::ItemRef> anchor)
{
    if (!m_scene || open == m_scene->open())
        return;
    rememberView();
    std::optional<Anchor> kept;
    if (anchor) {
        const ItemIndex item = m_scene->itemOf(*anchor);
        if (item != kNoItem) {
            const QRectF rect = m_scene->items()[item].rect;
            kept = Anchor{*anchor, m_camera.toView(QPointF(rect.center().x(), rect.top()))};
        }
    }
    startLayout(m_scene->sharedTree(), std::move(open), kept, !kept);
}

void GraphView::setBlockOpen(layout::BlockId block, bool isOpen)
{
    if (!m_scene || block == layout::kRoot || block >= m_scene->open().size())
        return;
    std::vector<char> open = m_scene->open();
    open[block] = isOpen ? 1 : 0;
    setFolding(std::move(open), layout::ItemRef{true, block});
}

void GraphView::foldAll()
{
    if (!m_scene)
        return;
    std::vector<char> open(m_scene->open().size(), 0);
    open.front() = 1;
    setFolding(std::move(open), std::nullopt);
}

void GraphView::unfoldAll()
{
    if (m_scene)
        setFolding(layout::allOpen(m_scene->tree()), std::nullopt);
}

void GraphView::openOrClose(ItemIndex item)
{
    const SceneItem &chosen = m_scene->items()[item];
    if (chosen.ref.isBlock)
        setBlockOpen(chosen.ref.id, !chosen.isFrame);
    else
        showNode(chosen.ref.id);
}

void GraphView::goUp()
{
    const ItemIndex item = currentItem();
    if (item == kNoItem)
        return;
    const SceneItem &current = m_scene->items()[item];
    const layout::BlockId block = current.ref.isBlock ? m_scene->tree().blocks[current.ref.id].parent
                                                      : m_scene->tree().blockOf[current.ref.id];
    if (block == layout::kRoot || block == layout::kNoBlock)
        return;
    const std::vector<graph::NodeId> nodes = layout::nodesIn(m_scene->tree(), block);
    m_controller->selection().set(nodes, nodes.front());
    setBlockOpen(block, false);
}

} // namespace halftone::widgets
