#include "widgets/graphview/graph_view.h"

#include "core/layout/drawn_nodes.h"
#include "core/layout/first_view.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/legend.h"
#include "widgets/graphview/minimap.h"
#include "widgets/graphview/plain_note.h"
#include "widgets/graphview/view_bar.h"
#include "widgets/models/source_types.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QSplitter>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kFadeMs = 120;
constexpr int kPatience = 10; ///< times the usual limits of a layout, when a person asks for it again

} // namespace

/// What a layout job brings.
struct GraphView::Layouted
{
    std::shared_ptr<const Scene> scene; ///< null: cancelled
    std::optional<passes::TypeMap> types; ///< of a newly opened model
};

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
    , m_cache(std::make_shared<layout::PieceCache>())
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
    m_right->setAccessibleName(tr("Graph of the model"));
    setFocusProxy(m_right);
    m_legend = new Legend(m_right);
    connectCanvas(m_left);
    connectCanvas(m_right);
    m_bar->show(m_colourBy, m_sides);

    connect(m_bar, &ViewBar::colourByChosen, this, &GraphView::setColourBy);
    connect(m_bar, &ViewBar::sidesChosen, this, &GraphView::setSides);
    connect(m_bar, &ViewBar::fitWanted, this, &GraphView::fit);
    connect(m_bar, &ViewBar::zoomInWanted, this, &GraphView::zoomIn);
    connect(m_bar, &ViewBar::zoomOutWanted, this, &GraphView::zoomOut);
    connect(m_bar, &ViewBar::zoomToFullWanted, this, &GraphView::zoomToFull);
    connect(m_bar, &ViewBar::foldWanted, this, &GraphView::foldAll);
    connect(m_bar, &ViewBar::unfoldWanted, this, &GraphView::unfoldAll);
    connect(m_bar, &ViewBar::findWanted, this, &GraphView::showFind);
    connect(m_plainNote, &PlainNote::tryAgainWanted, this, &GraphView::layOutAgain);
    connect(m_find, &FindPanel::foundChanged, this, &GraphView::emphasise);
    connect(m_find, &FindPanel::closed, this, &GraphView::hideFind);
    connect(m_find, &FindPanel::nodeChosen, this, [this](graph::NodeId node) {
        m_controller->selection().set(node);
        reveal(m_scene ? m_scene->itemOf(node) : kNoItem);
    });
    connect(m_find, &FindPanel::nodeActivated, this, [this](graph::NodeId node) {
        m_controller->selection().set(node);
        showNode(node);
    });
    connect(controller, &DocumentController::documentChanged, this, &GraphView::openDocument);
    connect(controller, &DocumentController::snapshotChanged, this, [this] {
        recolour();
        m_find->refresh();
    });
    connect(controller, &DocumentController::figuresChanged, this, [this] {
        recolour();
        m_find->refresh();
    });
    connect(&controller->selection(), &Selection::changed, this, &GraphView::emphasise);
    connect(&controller->selection(), &Selection::shownRequested, this, &GraphView::showNode);
    openDocument();
}

GraphView::~GraphView() = default;

void GraphView::connectCanvas(Canvas *canvas)
{
    connect(canvas, &Canvas::cameraMoved, this, [this](const Camera &camera) {
        m_keep = Keep::Nothing;
        setCamera(camera);
    });
    connect(canvas, &Canvas::itemClicked, this,
            [this, canvas](ItemIndex item, Qt::KeyboardModifiers modifiers) {
                if ((modifiers & Qt::AltModifier) != 0)
                    showCounterpartOf(item, canvas);
                else
                    clickItem(item, modifiers);
            });
    connect(canvas, &Canvas::itemDoubleClicked, this, &GraphView::openOrClose);
    connect(canvas, &Canvas::groundClicked, this, [this] { m_controller->selection().clear(); });
    connect(canvas, &Canvas::bandSelected, this, &GraphView::selectArea);
    connect(canvas, &Canvas::keyWanted, this, &GraphView::handleKey);
    connect(canvas, &Canvas::dragWanted, this, &GraphView::dragItem);
    connect(canvas, &Canvas::menuWanted, this, [this](const QPoint &globalPos, ItemIndex item) {
        if (item != kNoItem && !m_emphasis->isSelected(item))
            clickItem(item, Qt::NoModifier);
        Q_EMIT nodesMenuRequested(globalPos);
    });
}

void GraphView::openDocument()
{
    m_job.cancel();
    m_history.clear();
    m_anchor.reset();
    m_cameraAfter.reset();
    m_showAfter.reset();
    // The picture of another model says nothing of this one: a click on it would choose the wrong nodes.
    m_left->setInput({});
    m_right->setInput({});
    m_legend->hide();
    m_plainNote->hide();
    m_emphasis = std::make_shared<const Emphasis>();
    m_scene.reset();
    m_shown.reset();
    m_find->forget();
    m_right->setMessage(m_controller->snapshot() ? tr("Laying out the graph…") : tr("No model is open."));
    if (!m_controller->snapshot())
        return;
    startLayout(nullptr, {}, std::nullopt, true);
}

void GraphView::startLayout(std::shared_ptr<const layout::BlockTree> tree, std::vector<char> open,
                            std::optional<Anchor> anchor, bool fitsAfter)
{
    m_anchor = std::move(anchor);
    m_fitsAfter = fitsAfter;
    const QFontMetricsF metrics(font());
    m_job.start(
        [snapshot = m_controller->snapshot(), tree = std::move(tree), open = std::move(open), cache = m_cache,
         lineHeight = metrics.height(),
         isPatient = std::exchange(m_isPatient, false)](const std::stop_token &stop) mutable {
            Layouted result;
            const graph::Graph &graph = snapshot->graph();
            if (!tree) {
                tree = std::make_shared<const layout::BlockTree>(
                    layout::foldGraph(graph, layout::drawnNodes(snapshot->source->model)));
                if (open.size() != tree->blocks.size())
                    open = layout::openWithin(*tree, layout::kFirstView);
                open[layout::kRoot] = 1;
                result.types = sourceTypes(*snapshot);
            }
            layout::LayoutOptions options;
            options.gaps = {1.5 * lineHeight, 1.9 * lineHeight};
            if (isPatient) {
                options.limits.computing *= kPatience;
                options.limits.waiting *= kPatience;
                options.heaviest *= kPatience;
            }
            auto picture = layout::layoutGraph(graph, *tree, open, itemSizes(graph, *tree, lineHeight),
                                               options, *cache, Progress{stop, {}});
            if (picture.ok())
                result.scene = std::make_shared<const Scene>(snapshot->source, tree, std::move(open),
                                                             std::move(picture).value());
            return result;
        },
        [this](Layouted layouted) { take(std::move(layouted)); });
}

void GraphView::take(Layouted layouted)
{
    if (!layouted.scene || !m_controller->snapshot())
        return;
    const bool isNew = layouted.types.has_value();
    if (!isNew && m_scene) {
        m_left->fadeFromPresent(m_left->isVisible() ? animationMs() : 0);
        m_right->fadeFromPresent(animationMs());
    }
    if (isNew)
        m_types = std::make_shared<const passes::TypeMap>(std::move(*layouted.types));
    m_scene = std::move(layouted.scene);
    m_right->setMessage({});
    m_plainNote->showNote(m_scene->note());
    recolour();
    emphasise();
    if (m_cameraAfter) {
        setCamera(*std::exchange(m_cameraAfter, std::nullopt));
    } else if (m_fitsAfter) {
        if (isNew)
            showFirst();
        else
            fitCamera();
    } else if (m_anchor && m_scene->itemOf(m_anchor->item) != kNoItem) {
        const QRectF rect = m_scene->items()[m_scene->itemOf(m_anchor->item)].rect;
        Camera camera = m_camera;
        camera.origin = QPointF(rect.center().x(), rect.top()) - m_anchor->view / camera.scale;
        setCamera(camera);
    }
    if (m_showAfter)
        centreOn(m_scene->itemOf(*std::exchange(m_showAfter, std::nullopt)));
    Q_EMIT settled();
}

void GraphView::recolour()
{
    const auto &snapshot = m_controller->snapshot();
    if (!m_scene || !snapshot)
        return;
    if (m_types->nodeCount() != m_scene->graph().nodeCount()) {
        m_left->setInput({});
        m_right->setInput({});
        return;
    }
    m_shown = snapshot;
    const session::Figures &figures = m_controller->figures();
    const bool showsConverted = m_sides != Sides::Original;
    m_looks = std::make_shared<const Looks>(
        looksOf(*m_scene, *snapshot, figures, m_colourBy, showsConverted, *m_types));
    if (m_sides == Sides::Both)
        m_originalLooks = std::make_shared<const Looks>(
            looksOf(*m_scene, *snapshot, figures, m_colourBy, false, *m_types));
    m_legend->show(*m_scene, *m_looks, m_colourBy,
                   showsConverted ? std::optional(snapshot->castCount()) : std::nullopt);
    feedCanvases();
}

void GraphView::emphasise()
{
    if (!m_scene)
        return;
    Emphasis emphasis = emphasisOf(*m_scene, m_controller->selection().nodes());
    if (m_find->isVisible() && !m_find->found().empty()) {
        emphasis.found.assign(m_scene->items().size(), 0);
        for (const graph::NodeId node : m_find->found()) {
            const ItemIndex item = m_scene->itemOf(node);
            if (item != kNoItem)
                emphasis.found[item] = 1;
        }
    }
    m_emphasis = std::make_shared<const Emphasis>(std::move(emphasis));
    describeCurrent();
    if (m_right->input().scene == m_scene) // else there is nothing to emphasise yet
        feedCanvases();
}

void GraphView::feedCanvases()
{
    PaintInput input{m_scene, m_looks, m_emphasis, m_shown, m_types, m_colourBy, m_sides != Sides::Original};
    m_right->setInput(input);
    if (m_sides == Sides::Both) {
        input.looks = m_originalLooks;
        input.converted = false;
        m_left->setInput(input);
    } else {
        m_left->setInput({}); // hidden: it need not keep a scene alive
    }
}

void GraphView::setColourBy(ColourBy colourBy)
{
    if (colourBy == m_colourBy)
        return;
    m_colourBy = colourBy;
    m_bar->show(m_colourBy, m_sides);
    recolour();
    Q_EMIT colourByChanged(colourBy);
}

void GraphView::setSides(Sides sides)
{
    if (sides == m_sides)
        return;
    m_sides = sides;
    const int before = m_right->width();
    m_bar->show(m_colourBy, m_sides);
    m_left->setVisible(sides == Sides::Both);
    m_left->setCaption(sides == Sides::Both ? tr("Original") : QString());
    m_right->setCaption(sides == Sides::Both ? tr("Converted") : QString());
    if (sides == Sides::Both)
        m_splitter->setSizes({width() / 2, width() / 2});
    layout()->activate();
    m_splitter->refresh(); // so that the canvases have their size
    recolour();
    if (m_keep == Keep::First) {
        showFirst();
    } else if (m_keep == Keep::Fitted) {
        fitCamera();
    } else { // what is in the middle stays there in a pane of another width
        Camera camera = m_camera;
        camera.origin.rx() += (before - m_right->width()) / (2 * camera.scale);
        setCamera(camera);
    }
    Q_EMIT sidesChanged(sides);
}

int GraphView::animationMs() const
{
    return style()->styleHint(QStyle::SH_Widget_Animation_Duration, nullptr, this) > 0 ? kFadeMs : 0;
}

void GraphView::resizeEvent(QResizeEvent *)
{
    layout()->activate(); // the canvases have their size
    m_legend->place();
    if (m_keep == Keep::First)
        showFirst();
    else if (m_keep == Keep::Fitted)
        fitCamera();
}

void GraphView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::FontChange && m_scene) // other text, other boxes
        startLayout(m_scene->sharedTree(), m_scene->open(), std::nullopt, true);
    QWidget::changeEvent(event);
}

} // namespace halftone::widgets
