#include "widgets/graphview/graph_view.h"

#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/legend.h"
#include "widgets/graphview/minimap.h"
#include "widgets/graphview/node_drag.h"
#include "widgets/graphview/picture_file.h"
#include "widgets/graphview/plain_note.h"
#include "widgets/graphview/view_bar.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QResizeEvent>
#include <QSplitter>
#include <QStyle>
#include <QVBoxLayout>

namespace halftone::widgets {
namespace {

constexpr int kFadeMs = 120;
constexpr double kEntranceHeight = 400; ///< of the scene's top, about what is seen of it at first

/// Where the boxes at the top of a scene stand.
double entranceOf(const Scene &scene)
{
    double sum = 0;
    int count = 0;
    for (const SceneItem &item : scene.items()) {
        if (item.isFrame || item.rect.top() > kEntranceHeight)
            continue;
        sum += item.rect.center().x();
        ++count;
    }
    return count > 0 ? sum / count : scene.size().width() / 2;
}

} // namespace

GraphView::GraphView(DocumentController *controller, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_bar(new ViewBar(this))
    , m_splitter(new QSplitter(Qt::Horizontal, this))
    , m_left(new Canvas(m_splitter))
    , m_right(new Canvas(m_splitter))
    , m_find(new FindPanel(controller, this))
    , m_legend(nullptr)
    , m_plainNote(new PlainNote(this))
    , m_selector(controller->selection())
    , m_navigator(m_right)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_bar);
    column->addWidget(m_plainNote);
    auto *row = new QHBoxLayout;
    row->setSpacing(0);
    row->addWidget(m_splitter, 1);
    row->addWidget(m_find);
    column->addLayout(row, 1);
    m_splitter->setChildrenCollapsible(false);
    m_left->hide();
    m_find->hide();
    m_left->setAccessibleName(tr("Graph of the original model"));
    m_left->minimap()->retire();
    m_right->setAccessibleName(tr("Graph of the model"));
    setFocusProxy(m_right);
    m_legend = new Legend(m_right);
    connectCanvas(m_left);
    connectCanvas(m_right);
    connectBar();
    connectFind();
    m_bar->show(colourBy(), sides());

    connect(&m_navigator, &ViewNavigator::moved, this, &GraphView::showCamera);
    connect(m_plainNote, &PlainNote::tryAgainWanted, this, &GraphView::layOutAgain);
    connect(controller, &DocumentController::documentChanged, this, &GraphView::openDocument);
    for (const auto changed : {&DocumentController::snapshotChanged, &DocumentController::figuresChanged})
        connect(controller, changed, this, [this] {
            recolour();
            m_find->refresh();
        });
    connect(&controller->selection(), &Selection::changed, this, [this] {
        emphasise();
        bringIntoSight();
    });
    connect(&controller->selection(), &Selection::hoveredChanged, this, &GraphView::showHovered);
    connect(&controller->selection(), &Selection::shownRequested, this, &GraphView::showNode);
    openDocument();
}

GraphView::~GraphView() = default;

void GraphView::connectBar()
{
    connect(m_bar, &ViewBar::colourByChosen, this, &GraphView::setColourBy);
    connect(m_bar, &ViewBar::colourByChosen, m_right, qOverload<>(&QWidget::setFocus)); // its keys walk
    connect(m_bar, &ViewBar::sidesChosen, this, &GraphView::setSides);
    connect(m_bar, &ViewBar::fitWanted, this, &GraphView::fit);
    connect(m_bar, &ViewBar::zoomInWanted, this, &GraphView::zoomIn);
    connect(m_bar, &ViewBar::zoomOutWanted, this, &GraphView::zoomOut);
    connect(m_bar, &ViewBar::zoomToFullWanted, this, &GraphView::zoomToFull);
    connect(m_bar, &ViewBar::foldWanted, this, &GraphView::foldAll);
    connect(m_bar, &ViewBar::unfoldWanted, this, &GraphView::unfoldAll);
    connect(m_bar, &ViewBar::everythingWanted, this,
            [this](bool wants) { setDetail(wants ? layout::Detail::Everything : layout::Detail::Computed); });
    connect(m_bar, &ViewBar::findWanted, this, &GraphView::showFind);
}

void GraphView::connectFind()
{
    connect(m_find, &FindPanel::foundChanged, this, &GraphView::emphasise);
    connect(m_find, &FindPanel::closed, this, &GraphView::hideFind);
    connect(m_find, &FindPanel::nodesChosen, this,
            [this](const std::vector<graph::NodeId> &nodes, graph::NodeId current) {
                m_controller->selection().set(nodes, current);
                reveal(m_scene ? m_scene->itemOf(current) : kNoItem, *m_right);
            });
    connect(m_find, &FindPanel::menuWanted, this, &GraphView::nodesMenuRequested);
    connect(m_find, &FindPanel::dragWanted, this, [this] {
        if (m_scene)
            dragNodes(m_find, m_scene->graph(), m_selector.operators(m_scene->graph()));
    });
    connect(m_find, &FindPanel::nodeActivated, this, [this](graph::NodeId node) {
        m_controller->selection().set(node);
        showNode(node);
    });
}

void GraphView::connectCanvas(Canvas *canvas)
{
    connect(canvas, &Canvas::cameraMoved, &m_navigator, &ViewNavigator::moveTo);
    connect(canvas, &Canvas::itemClicked, this,
            [this, canvas](ItemIndex item, Qt::KeyboardModifiers modifiers) {
                if ((modifiers & Qt::AltModifier) != 0)
                    showCounterpartOf(item, canvas);
                else
                    m_selector.click(*m_scene, item, modifiers);
            });
    connect(canvas, &Canvas::portsClicked, this, &GraphView::showSource);
    connect(canvas, &Canvas::itemDoubleClicked, this, &GraphView::openOrClose);
    connect(canvas, &Canvas::itemHovered, this, &GraphView::hoverItem);
    connect(canvas, &Canvas::groundClicked, this, [this] { m_controller->selection().clear(); });
    connect(canvas, &Canvas::bandSelected, this, [this](const QRectF &area, bool adds) {
        if (m_scene)
            m_selector.selectArea(*m_scene, area, adds);
    });
    connect(canvas, &Canvas::keyWanted, this, &GraphView::handleKey);
    connect(canvas, &Canvas::dragWanted, this, &GraphView::dragItem);
    connect(canvas, &Canvas::menuWanted, this, [this](const QPoint &globalPos, ItemIndex item) {
        if (item != kNoItem && !emphasis().isSelected(item))
            m_selector.click(*m_scene, item, Qt::NoModifier);
        const bool isFrame = item != kNoItem && m_scene->items()[item].isFrame;
        m_menuFrame = isFrame ? m_scene->items()[item].ref.id : layout::kNoBlock;
        Q_EMIT nodesMenuRequested(globalPos); // until the menu is closed
        m_menuFrame = layout::kNoBlock;
    });
}

void GraphView::openDocument()
{
    m_job.cancel();
    m_navigator.forgetViews();
    m_navigator.setSceneSize({});
    m_after = {};
    // The picture of another model says nothing of this one: a click on it would choose the wrong nodes.
    m_left->setInput({});
    m_right->setInput({});
    m_legend->hide();
    m_plainNote->hide();
    m_scene.reset();
    m_appearance.forget();
    m_find->forget();
    m_right->setMessage(m_controller->snapshot() ? tr("Laying out the graph…") : tr("No model is open."));
    if (m_controller->snapshot())
        layOutNewModel({});
}

void GraphView::layOutNewModel(std::vector<char> open)
{
    m_after = {};
    m_after.fits = true;
    m_job.start(
        {m_controller->snapshot(), nullptr, std::move(open), QFontMetricsF(font()).height(), false, m_detail},
        [this](LayoutAnswer answer) { take(std::move(answer)); });
}

void GraphView::startLayout(std::vector<char> open, AfterLayout after, bool isPatient)
{
    m_after = std::move(after);
    m_job.start({m_controller->snapshot(), m_scene->sharedTree(), std::move(open),
                 QFontMetricsF(font()).height(), isPatient},
                [this](LayoutAnswer answer) { take(std::move(answer)); });
}

bool GraphView::isBusy() const
{
    return m_job.isRunning() || (m_right->isVisible() && !m_right->isComplete());
}

void GraphView::take(LayoutAnswer answer)
{
    if (!answer.scene || !m_controller->snapshot())
        return;
    const bool isNew = answer.isNew;
    if (!isNew && m_scene) {
        m_left->fadeFromPresent(m_left->isVisible() ? animationMs() : 0);
        m_right->fadeFromPresent(animationMs());
    }
    m_scene = std::move(answer.scene);
    m_navigator.setSceneSize(m_scene->size());
    m_navigator.setEntrance(entranceOf(*m_scene));
    m_right->setMessage({});
    m_plainNote->showNote(m_scene->note());
    recolour();
    emphasise();
    const AfterLayout after = std::exchange(m_after, {});
    if (after.camera)
        m_navigator.moveTo(*after.camera);
    else if (after.fits && isNew)
        m_navigator.showFirst();
    else if (after.fits)
        m_navigator.fit();
    else if (after.anchor && m_scene->itemOf(after.anchor->item) != kNoItem) {
        const QRectF rect = m_scene->items()[m_scene->itemOf(after.anchor->item)].rect;
        m_navigator.pin({rect.center().x(), rect.top()}, after.anchor->view);
        landOnContent(m_scene->itemOf(after.anchor->item));
    }
    if (after.node)
        centreOn(*after.node);
    Q_EMIT settled();
}

/// A frame may be so wide that nothing of it lies where its box was.
void GraphView::landOnContent(ItemIndex opened)
{
    const SceneItem &frame = m_scene->items()[opened];
    if (!frame.isFrame)
        return;
    const QRectF seen = m_navigator.camera().toScene(QRectF(m_right->rect()));
    const SceneItem *first = nullptr;
    for (const SceneItem &item : m_scene->items()) {
        if (item.isFrame || !frame.rect.contains(item.rect))
            continue;
        if (seen.intersects(item.rect))
            return;
        first = first ? first : &item; // in topological order
    }
    if (first)
        m_navigator.centreOn(first->rect);
}

void GraphView::centreOn(graph::NodeId node)
{
    if (const ItemIndex item = m_scene->itemOf(node); item != kNoItem)
        m_navigator.centreOn(m_scene->items()[item].rect);
}

void GraphView::preview(std::shared_ptr<const session::Snapshot> snapshot)
{
    if (snapshot == m_preview)
        return;
    m_preview = std::move(snapshot);
    recolour();
}

void GraphView::recolour()
{
    const auto &now = m_controller->snapshot();
    if (m_preview && (!now || now->source != m_preview->source))
        m_preview.reset(); // of another model
    const auto &snapshot = m_preview ? m_preview : now;
    if (!m_scene || !snapshot)
        return;
    if (!m_appearance.recolour(*m_scene, snapshot, m_controller->figures())) {
        m_left->setInput({});
        m_right->setInput({});
        return;
    }
    m_legend->show(*m_scene, looks(), colourBy(),
                   m_appearance.showsConverted() && snapshot->converted ? snapshot.get() : nullptr);
    feedCanvases();
}

void GraphView::emphasise()
{
    if (!m_scene)
        return;
    m_appearance.emphasise(*m_scene, m_controller->selection().nodes(),
                           m_find->isVisible() ? std::span(m_find->found())
                                               : std::span<const graph::NodeId>());
    describeCurrent();
    if (m_right->input().scene == m_scene) // else there is nothing to emphasise yet
        feedCanvases();
}

/// What stands for several operators is none of them.
void GraphView::hoverItem(ItemIndex item)
{
    const bool isNode = m_scene && item < m_scene->items().size() && !m_scene->items()[item].ref.isBlock;
    m_controller->selection().hover(isNode ? std::optional(m_scene->items()[item].ref.id) : std::nullopt);
}

/// At the folded block around it where it has no box of its own.
void GraphView::showHovered()
{
    const auto node = m_controller->selection().hovered();
    const ItemIndex item = node && m_scene ? m_scene->itemOf(*node) : kNoItem;
    m_left->setHovered(item);
    m_right->setHovered(item);
}

void GraphView::feedCanvases()
{
    m_right->setInput(m_appearance.input(m_scene));
    if (sides() == Sides::Both)
        m_left->setInput(m_appearance.originalInput(m_scene));
    else
        m_left->setInput({}); // hidden: it need not keep a scene alive
}

void GraphView::showCamera(const Camera &camera)
{
    m_left->setCamera(camera);
    m_right->setCamera(camera);
    m_bar->showScale(camera.scale);
    Q_EMIT cameraChanged();
}

ItemIndex GraphView::currentItem() const
{
    return m_scene ? m_selector.current(*m_scene) : kNoItem;
}

void GraphView::describeCurrent()
{
    const ItemIndex item = currentItem();
    QString text;
    if (item != kNoItem && item < looks().items.size()) {
        const SceneItem &current = m_scene->items()[item];
        text = current.name + QStringLiteral(", ") + current.detail;
        if (const tensor::DType type = looks().items[item].type;
            type != tensor::DType::Unknown && !current.ref.isBlock)
            text += tr(", computes in %1").arg(shortType(type));
    }
    m_right->setAccessibleDescription(text);
}

void GraphView::dragItem(ItemIndex item)
{
    if (!emphasis().isSelected(item))
        m_selector.click(*m_scene, item, Qt::NoModifier);
    const graph::Graph &graph = m_scene->graph();
    dragNodes(this, graph, m_selector.operators(graph));
}

Result<void> GraphView::exportTo(const QString &path)
{
    return writePicture(path, m_right->input(), palette(), font());
}

int GraphView::animationMs() const
{
    return style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) > 0 ? kFadeMs : 0;
}

void GraphView::resizeEvent(QResizeEvent *event)
{
    layout()->activate(); // the canvases have their size
    const bool wasInSight = isCurrentWithin(m_right->size() + event->oldSize() - event->size());
    m_legend->place();
    m_navigator.viewportResized();
    if (wasInSight)
        bringIntoSight();
}

void GraphView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::FontChange && m_scene) { // other text, other boxes
        AfterLayout after;
        after.fits = true;
        startLayout(m_scene->open(), after);
    }
    QWidget::changeEvent(event);
}

} // namespace halftone::widgets
