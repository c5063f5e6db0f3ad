#pragma once

#include "core/base/result.h"
#include "widgets/common/document_controller.h"
#include "widgets/common/latest_job.h"
#include "widgets/graphview/camera.h"
#include "widgets/graphview/emphasis.h"
#include "widgets/graphview/looks.h"
#include "widgets/graphview/view_history.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

class QMimeData;
class QSplitter;

namespace halftone::widgets {

class Canvas;
class FindPanel;
class Legend;
class PlainNote;
class ViewBar;

/// What a drag of nodes carries: "application/x-halftone-nodes", their names in UTF-8, one a line; also as plain text.
std::unique_ptr<QMimeData> nodesMime(const graph::Graph &graph, const std::vector<graph::NodeId> &nodes);

/// The graph of the opened model: folded into blocks, coloured by precision or by a figure, original, converted or both
/// side by side. Layout runs beside the window's thread, the newest wins, and what is on screen stays until then; an edit
/// only recolours. Shows and sets the controller's selection.
class GraphView : public QWidget
{
    Q_OBJECT

public:
    explicit GraphView(DocumentController *controller, QWidget *parent = nullptr);
    ~GraphView() override;

    ColourBy colourBy() const { return m_colourBy; }
    Sides sides() const { return m_sides; }
    /// Layout is under way or its picture not yet shown.
    bool isBusy() const { return m_job.isRunning(); }
    double scale() const { return m_camera.scale; }
    /// Null before the first layout.
    const Scene *scene() const { return m_scene.get(); }
    const Looks &looks() const { return *m_looks; } ///< of the converted side
    const Emphasis &emphasis() const { return *m_emphasis; }
    Canvas *canvas() const { return m_right; } ///< of the converted side, or the only one
    FindPanel *findPanel() const { return m_find; }
    Canvas *originalCanvas() const { return m_left; } ///< seen when both are side by side
    bool canGoBack() const { return m_history.canGoBack(); }
    bool canGoForward() const { return m_history.canGoForward(); }

    /// Which blocks are open, by BlockId; empty before the first layout.
    std::vector<char> openBlocks() const;
    /// Those that were open when a session was saved, in place of those that a model is first shown with; of another model, or
    /// folded in another way: nothing happens.
    void restoreOpenBlocks(std::vector<char> open);
    const PlainNote &plainNote() const { return *m_plainNote; }

public Q_SLOTS:
    void setColourBy(halftone::widgets::ColourBy colourBy);
    void setSides(halftone::widgets::Sides sides);
    void fit();
    void zoomIn();
    void zoomOut();
    void zoomToFull(); ///< 100 %
    void back();
    void forward();
    void showFind();
    void hideFind();
    void findNext();
    void findPrevious();
    void foldAll();
    void unfoldAll();
    void layOutAgain(); ///< with ten times as much time for Graphviz
    /// Side by side, the current node's place in the other graph than the one with the focus is shown and marked.
    void showCounterpart();
    /// Opens the blocks around a node and brings it to the middle.
    void showNode(halftone::graph::NodeId node);

public:
    void setBlockOpen(layout::BlockId block, bool isOpen);
    /// Writes the whole picture of the present side: .svg and .pdf as shapes, .png in pixels (the scale is lowered where the
    /// picture would be too large). fails: BadCall for another ending, BadInput when it cannot be written
    Result<void> exportTo(const QString &path);

Q_SIGNALS:
    void settled(); ///< the newest layout is shown
    void nodesMenuRequested(const QPoint &globalPos); ///< for the selection, which is what was clicked on
    void colourByChanged(halftone::widgets::ColourBy colourBy);
    void sidesChanged(halftone::widgets::Sides sides);
    void cameraChanged();
    void counterpartShown(const QString &what); ///< which node, and what it computes in on both sides

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    struct Layouted;
    /// A place of the scene that stays under a place of the view while the layout changes.
    struct Anchor
    {
        layout::ItemRef item;
        QPointF view;
    };

    /// What the camera keeps to when the view's size changes.
    enum class Keep
    {
        Nothing,
        Fitted,
        First, ///< as a model is first shown
    };

    void connectCanvas(Canvas *canvas);
    void openDocument();
    void startLayout(std::shared_ptr<const layout::BlockTree> tree, std::vector<char> open,
                     std::optional<Anchor> anchor, bool fitsAfter);
    void take(Layouted layouted);
    void setFolding(std::vector<char> open, std::optional<layout::ItemRef> anchor);
    void recolour();
    void emphasise();
    void feedCanvases();
    void setCamera(const Camera &camera);
    void fitCamera();
    void showFirst();
    void zoomBy(double factor);
    void rememberView();
    void goTo(const View &view);
    void centreOn(ItemIndex item);
    void reveal(ItemIndex item);
    void revealIn(const Canvas &canvas, ItemIndex item);
    void showCounterpartOf(ItemIndex item, const Canvas *clicked);
    void clickItem(ItemIndex item, Qt::KeyboardModifiers modifiers);
    void openOrClose(ItemIndex item);
    void goUp();
    void selectArea(const QRectF &area, bool adds);
    void dragItem(ItemIndex item);
    void handleKey(int key, Qt::KeyboardModifiers modifiers);
    bool handleCommandKey(int key, Qt::KeyboardModifiers modifiers);
    void walk(int key, bool extends);
    void step(bool backward);
    ItemIndex currentItem() const;
    void describeCurrent();
    int animationMs() const;

    DocumentController *m_controller;
    ViewBar *m_bar;
    QSplitter *m_splitter;
    Canvas *m_left; ///< the original, when side by side
    Canvas *m_right;
    FindPanel *m_find;
    Legend *m_legend;
    PlainNote *m_plainNote;

    std::shared_ptr<layout::PieceCache> m_cache;
    std::shared_ptr<const Scene> m_scene;
    std::shared_ptr<const session::Snapshot> m_shown; ///< that the colours are of
    std::shared_ptr<const passes::TypeMap> m_types; ///< of the source
    // Never null; each is replaced, not changed, since the canvases draw from it.
    std::shared_ptr<const Looks> m_looks = std::make_shared<const Looks>();
    std::shared_ptr<const Looks> m_originalLooks = m_looks;
    std::shared_ptr<const Emphasis> m_emphasis = std::make_shared<const Emphasis>();
    ColourBy m_colourBy = ColourBy::Precision;
    Sides m_sides = Sides::Converted;
    Camera m_camera;
    ViewHistory m_history;
    std::optional<Anchor> m_anchor;
    std::optional<Camera> m_cameraAfter;
    std::optional<graph::NodeId> m_showAfter;
    bool m_fitsAfter = false;
    bool m_isPatient = false; ///< for the next layout
    Keep m_keep = Keep::Nothing;
    LatestJob m_job; ///< last: ends first
};

} // namespace halftone::widgets
