#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/graphview/minimap.h"
#include "widgets/graphview/view_bar.h"

#include <QLayout>
#include <QMenu>
#include <QSplitter>

/// What a person asks of the graph.
namespace halftone::widgets {
namespace {

constexpr double kKeyZoom = 1.25;

layout::BlockId blockAround(const Scene &scene, const layout::ItemRef &ref)
{
    return ref.isBlock ? scene.tree().blocks[ref.id].parent : scene.tree().blockOf[ref.id];
}

/// The open blocks, and those that a node lies in.
std::vector<char> openAround(const Scene &scene, graph::NodeId node)
{
    std::vector<char> open = scene.open();
    layout::BlockId block = scene.tree().blockOf[scene.tree().boxOf[node]];
    for (; block != layout::kNoBlock && block != layout::kRoot; block = scene.tree().blocks[block].parent)
        open[block] = 1;
    return open;
}

} // namespace

void GraphView::setColourBy(ColourBy colourBy)
{
    if (colourBy == m_appearance.colourBy())
        return;
    m_appearance.setColourBy(colourBy);
    m_bar->show(colourBy, sides());
    recolour();
    Q_EMIT colourByChanged(colourBy);
}

void GraphView::setSides(Sides sides)
{
    if (sides == m_appearance.sides())
        return;
    m_appearance.setSides(sides);
    const int before = m_right->width();
    const bool isBoth = sides == Sides::Both;
    m_bar->show(colourBy(), sides);
    m_left->setVisible(isBoth);
    m_left->setCaption(isBoth ? tr("Original") : QString());
    m_right->setCaption(isBoth ? tr("Converted") : QString());
    if (isBoth)
        m_splitter->setSizes({width() / 2, width() / 2});
    layout()->activate();
    m_splitter->refresh(); // so that the canvases have their size
    recolour();
    m_navigator.viewportResizedFrom(before);
    m_right->minimap()->setAvoidsNodes(isBoth);
    Q_EMIT sidesChanged(sides);
}

void GraphView::setDetail(layout::Detail detail)
{
    if (detail == m_detail)
        return;
    m_detail = detail;
    m_bar->showEverything(detail == layout::Detail::Everything);
    if (m_controller->snapshot()) {
        m_navigator.forgetViews(); // their blocks are others
        layOutNewModel({});
        m_after.node = m_controller->selection().current();
    }
    Q_EMIT detailChanged(detail);
}

void GraphView::fit()
{
    if (!m_scene)
        return;
    m_navigator.remember(m_scene->open());
    m_navigator.fit();
}

void GraphView::zoomIn()
{
    m_navigator.zoomBy(kKeyZoom);
}

void GraphView::zoomOut()
{
    m_navigator.zoomBy(1 / kKeyZoom);
}

void GraphView::zoomToFull()
{
    m_navigator.zoomBy(1 / scale());
}

void GraphView::back()
{
    if (m_scene)
        goTo(m_navigator.goBack(m_scene->open()));
}

void GraphView::forward()
{
    if (m_scene)
        goTo(m_navigator.goForward(m_scene->open()));
}

void GraphView::goTo(const std::optional<View> &view)
{
    if (!view)
        return;
    if (view->open == m_scene->open()) {
        m_navigator.moveTo(view->camera);
        return;
    }
    AfterLayout after;
    after.camera = view->camera;
    startLayout(view->open, after);
}

std::optional<View> GraphView::view() const
{
    return m_scene ? std::optional(View{m_scene->open(), m_navigator.camera()}) : std::nullopt;
}

void GraphView::showView(View view)
{
    if (!m_scene)
        return;
    if (view.open.size() != m_scene->open().size())
        view.open = m_scene->open();
    view.open[layout::kRoot] = 1;
    m_navigator.remember(m_scene->open());
    goTo(view);
}

std::vector<char> GraphView::openBlocks() const
{
    return m_scene ? m_scene->open() : std::vector<char>();
}

void GraphView::restoreOpenBlocks(std::vector<char> open)
{
    if (!m_scene) { // the first layout is under way
        if (m_controller->snapshot())
            layOutNewModel(std::move(open));
    } else if (open.size() == m_scene->open().size() && !open.empty()) {
        open[layout::kRoot] = 1;
        setFolding(std::move(open), std::nullopt);
    }
}

void GraphView::restoreCamera(const Camera &camera)
{
    if (m_job.isRunning() || !m_scene)
        m_after.camera = camera;
    else
        m_navigator.moveTo(camera);
}

void GraphView::layOutAgain()
{
    if (m_scene)
        startLayout(m_scene->open(), {}, true);
}

std::optional<GraphView::Anchor> GraphView::anchorAt(const layout::ItemRef &ref) const
{
    const ItemIndex item = m_scene->itemOf(ref);
    if (item == kNoItem)
        return std::nullopt;
    const QRectF rect = m_scene->items()[item].rect;
    return Anchor{ref, m_navigator.camera().toView(QPointF(rect.center().x(), rect.top()))};
}

void GraphView::setFolding(std::vector<char> open, std::optional<layout::ItemRef> anchor)
{
    if (!m_scene || open == m_scene->open())
        return;
    m_navigator.remember(m_scene->open());
    AfterLayout after;
    if (anchor)
        after.anchor = anchorAt(*anchor);
    after.fits = !after.anchor;
    startLayout(std::move(open), after);
}

void GraphView::setBlockOpen(layout::BlockId block, bool isOpen)
{
    if (!m_scene || block == layout::kRoot || block >= m_scene->open().size())
        return;
    std::vector<char> open = m_scene->open();
    open[block] = isOpen ? 1 : 0;
    setFolding(std::move(open), layout::ItemRef{true, block});
}

layout::BlockId GraphView::foldableBlock() const
{
    if (m_menuFrame != layout::kNoBlock)
        return m_menuFrame;
    const ItemIndex item = currentItem();
    const layout::BlockId block
        = item == kNoItem ? layout::kRoot : blockAround(*m_scene, m_scene->items()[item].ref);
    return block == layout::kNoBlock ? layout::kRoot : block;
}

void GraphView::foldAround()
{
    setBlockOpen(foldableBlock(), false);
}

bool GraphView::canFoldAround() const
{
    return foldableBlock() != layout::kRoot;
}

bool GraphView::canUnfoldCurrent() const
{
    const ItemIndex item = currentItem();
    return m_menuFrame == layout::kNoBlock && item != kNoItem && m_scene->items()[item].ref.isBlock;
}

void GraphView::unfoldCurrent()
{
    if (canUnfoldCurrent())
        setBlockOpen(m_scene->items()[currentItem()].ref.id, true);
}

void GraphView::foldAll()
{
    if (!m_scene)
        return;
    std::vector<char> open(m_scene->open().size(), 0);
    open.front() = 1;
    setFolding(std::move(open), std::nullopt);
}

/// What a person looks at where nothing is selected.
std::optional<layout::ItemRef> GraphView::itemInTheMiddle() const
{
    if (const ItemIndex current = currentItem(); current != kNoItem)
        return m_scene->items()[current].ref;
    const QPointF middle = m_navigator.camera().toScene(QRectF(m_right->rect()).center());
    const SceneItem *nearest = nullptr;
    double least = 0;
    for (const SceneItem &item : m_scene->items()) {
        const double distance = (item.rect.center() - middle).manhattanLength();
        if (!item.isFrame && (!nearest || distance < least)) {
            nearest = &item;
            least = distance;
        }
    }
    return nearest ? std::optional(nearest->ref) : std::nullopt;
}

void GraphView::unfoldAll()
{
    if (m_scene)
        setFolding(layout::allOpen(m_scene->tree()), itemInTheMiddle());
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
    const layout::BlockId block = blockAround(*m_scene, m_scene->items()[item].ref);
    if (block == layout::kRoot || block == layout::kNoBlock)
        return;
    const std::vector<graph::NodeId> nodes = layout::nodesIn(m_scene->tree(), block);
    m_controller->selection().set(nodes, nodes.front());
    setBlockOpen(block, false);
}

void GraphView::showNode(graph::NodeId node)
{
    if (!m_scene || node >= m_scene->graph().nodeCount())
        return;
    m_navigator.remember(m_scene->open());
    std::vector<char> open = openAround(*m_scene, node);
    if (open != m_scene->open()) {
        AfterLayout after;
        after.node = node;
        startLayout(std::move(open), after);
    } else {
        centreOn(node);
    }
}

void GraphView::reveal(ItemIndex item, const Canvas &canvas)
{
    if (item != kNoItem)
        m_navigator.reveal(m_scene->items()[item].rect, canvas.size());
}

bool GraphView::isCurrentWithin(const QSize &view) const
{
    const ItemIndex item = currentItem();
    const QRectF seen = m_navigator.camera().toScene(QRectF(QPointF(), view));
    return item != kNoItem && seen.intersects(m_scene->items()[item].rect);
}

/// What is selected in a table or a plot is seen here too, with its neighbours. What is in sight stays where it is, since it may
/// have been clicked.
void GraphView::bringIntoSight()
{
    const ItemIndex item = currentItem();
    if (item == kNoItem || isCurrentWithin(m_right->size()))
        return;
    const QRectF rect = m_scene->items()[item].rect;
    const qreal neighbours = 2 * rect.height();
    m_navigator.reveal(rect.adjusted(0, -neighbours, 0, neighbours), m_right->size());
}

/// Both sides show the same places: the counterpart of a node is the node itself in the other canvas, as far as that one is
/// wide enough.
void GraphView::showCounterpartOf(ItemIndex item, const Canvas *clicked)
{
    if (item == kNoItem)
        return;
    m_selector.click(*m_scene, item, Qt::NoModifier);
    const bool isOriginal = clicked == m_left || sides() == Sides::Original;
    setSides(Sides::Both);
    layout()->activate(); // the canvases have their sizes
    Canvas *const other = isOriginal ? m_right : m_left;
    reveal(item, *other);
    other->mark(item);
    const SceneItem &shown = m_scene->items()[item];
    const Looks &original = m_appearance.originalLooks();
    if (shown.ref.isBlock || item >= original.items.size()) // no colours yet
        Q_EMIT counterpartShown(tr("%1, in both graphs").arg(shown.name));
    else
        Q_EMIT counterpartShown(
            tr("%1: %2 in the original, %3 in the converted graph")
                .arg(shown.name, shortType(original.items[item].type), shortType(looks().items[item].type)));
}

void GraphView::showCounterpart()
{
    showCounterpartOf(currentItem(), m_left->hasFocus() ? m_left : m_right);
}

/// Where what an item reads at a port comes from; of several a menu asks which. Back leads to the reader again.
void GraphView::showSource(ItemIndex reader, const QPoint &globalPos)
{
    const auto go = [this](graph::NodeId source) {
        m_controller->selection().set(source);
        showNode(source);
    };
    const std::span<const graph::NodeId> sources = m_scene->portSources(reader);
    if (sources.size() == 1)
        return go(sources.front());
    auto *const menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setObjectName(QStringLiteral("ports"));
    for (const graph::NodeId source : sources)
        menu->addAction(plain(m_scene->tree().asides.ports.at(source)).replace(u'&', QLatin1String("&&")),
                        this, [go, source] { go(source); });
    menu->popup(globalPos);
}

void GraphView::showFind()
{
    m_find->open();
}

void GraphView::hideFind()
{
    m_find->hide();
    m_right->setFocus();
    emphasise();
}

void GraphView::findNext()
{
    showFound(false);
}

void GraphView::findPrevious()
{
    showFound(true);
}

void GraphView::showFound(bool backward)
{
    if (const auto node = m_find->next(backward)) {
        m_controller->selection().set(*node);
        showNode(*node);
    }
}

void GraphView::leave()
{
    if (m_find->isVisible())
        hideFind();
    else
        m_controller->selection().clear();
}

void GraphView::handleKey(int key, Qt::KeyboardModifiers modifiers)
{
    if (m_scene && !m_scene->items().empty())
        run(commandOf(key, modifiers), key, modifiers);
}

void GraphView::run(GraphCommand command, int key, Qt::KeyboardModifiers modifiers)
{
    switch (command) {
    case GraphCommand::ZoomIn:
        return zoomIn();
    case GraphCommand::ZoomOut:
        return zoomOut();
    case GraphCommand::ZoomToFull:
        return zoomToFull();
    case GraphCommand::Find:
        return showFind();
    case GraphCommand::FindNext:
        return findNext();
    case GraphCommand::FindPrevious:
        return findPrevious();
    case GraphCommand::SelectAll:
        return m_selector.selectArea(*m_scene, QRectF(QPointF(), m_scene->size()), false);
    case GraphCommand::Back:
        return back();
    case GraphCommand::Forward:
        return forward();
    case GraphCommand::Walk:
        return reveal(m_selector.walk(*m_scene, key, (modifiers & Qt::ShiftModifier) != 0), *m_right);
    case GraphCommand::PageUp:
        return m_navigator.turnPage(true);
    case GraphCommand::PageDown:
        return m_navigator.turnPage(false);
    case GraphCommand::Fit:
        return fit();
    case GraphCommand::ShowCounterpart:
        return showCounterpart();
    case GraphCommand::OpenOrClose:
        if (const ItemIndex item = currentItem(); item != kNoItem)
            openOrClose(item);
        return;
    case GraphCommand::GoUp:
        return goUp();
    case GraphCommand::Leave:
        return leave();
    case GraphCommand::None:
        return;
    }
}

} // namespace halftone::widgets
