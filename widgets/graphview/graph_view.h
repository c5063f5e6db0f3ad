#pragma once

#include "core/base/result.h"
#include "widgets/common/document_controller.h"
#include "widgets/graphview/appearance.h"
#include "widgets/graphview/graph_keys.h"
#include "widgets/graphview/layout_job.h"
#include "widgets/graphview/scene_selector.h"
#include "widgets/graphview/view_navigator.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QSplitter;

namespace halftone::widgets {

class Canvas;
class FindPanel;
class Legend;
class PlainNote;
class ViewBar;

/// The graph of the open model: folded into blocks, coloured by precision or by a figure; original, converted, or both side by
/// side. Layout runs on another thread; the newest request wins, and the previous picture stays until then. An edit only changes
/// colours. Shows and sets the selection of the controller.
class GraphView : public QWidget
{
    Q_OBJECT

public:
    explicit GraphView(DocumentController *controller, QWidget *parent = nullptr);
    ~GraphView() override;

    ColourBy colourBy() const { return m_appearance.colourBy(); }
    Sides sides() const { return m_appearance.sides(); }
    /// A layout is running or not yet shown.
    bool isBusy() const;
    double scale() const { return m_navigator.camera().scale; }
    /// Null before the first layout.
    const Scene *scene() const { return m_scene.get(); }
    const Looks &looks() const { return m_appearance.looks(); } ///< of the converted side
    const Emphasis &emphasis() const { return m_appearance.emphasis(); }
    Canvas *canvas() const { return m_right; } ///< of the converted side, or the only canvas
    Legend *legend() const { return m_legend; }
    FindPanel *findPanel() const { return m_find; }
    Canvas *originalCanvas() const { return m_left; } ///< visible side by side
    const PlainNote &plainNote() const { return *m_plainNote; }
    /// What has a box of its own; see setDetail().
    layout::Detail detail() const { return m_detail; }
    bool canGoBack() const { return m_navigator.canGoBack(); }
    bool canFoldAround() const; ///< foldAround() folds one
    bool canUnfoldCurrent() const;
    bool canGoForward() const { return m_navigator.canGoForward(); }

    /// Unfolded blocks, by BlockId; empty before the first layout.
    std::vector<char> openBlocks() const;
    /// Restores the unfolded blocks of a session instead of the default. Ignored for another model or another folding.
    void restoreOpenBlocks(std::vector<char> open);
    /// The view of a session; after restoreOpenBlocks(), whose layout it waits for.
    void restoreCamera(const Camera &camera);
    void setBlockOpen(layout::BlockId block, bool isOpen);
    /// The current view; absent before the first layout.
    std::optional<View> view() const;
    /// Goes to a view and remembers the current one. Unfolded blocks of another model or folding are ignored; the position is still
    /// shown.
    void showView(View view);
    /// Like writePicture(), for the current side.
    Result<void> exportTo(const QString &path);

public Q_SLOTS:
    void setColourBy(halftone::widgets::ColourBy colourBy);
    /// Previews the colours of another conversion, until null is passed or the lists change.
    void preview(std::shared_ptr<const halftone::session::Snapshot> snapshot);
    void setSides(halftone::widgets::Sides sides);
    /// Lays the graph out anew where it differs. Blocks are folded as at first.
    void setDetail(halftone::layout::Detail detail);
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
    void unfoldCurrent(); ///< the folded block that the current node lies in
    void foldAround(); ///< the open block whose menu is open, or the one around the current item
    void unfoldAll();
    void layOutAgain(); ///< with ten times the time limit for Graphviz
    /// In side-by-side view, shows and marks the counterpart of the current node in the other graph.
    void showCounterpart();
    /// Unfolds the blocks around a node and centres it.
    void showNode(halftone::graph::NodeId node);

Q_SIGNALS:
    void settled(); ///< the newest layout is shown
    void nodesMenuRequested(const QPoint &globalPos); ///< for the selection, which includes the clicked node
    void colourByChanged(halftone::widgets::ColourBy colourBy);
    void sidesChanged(halftone::widgets::Sides sides);
    void detailChanged(halftone::layout::Detail detail);
    void cameraChanged();
    void counterpartShown(const QString &what); ///< the node and its type on both sides

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    /// A scene position that keeps its position in the view while the layout changes.
    struct Anchor
    {
        layout::ItemRef item;
        QPointF view;
    };

    /// What to do when the running layout is finished.
    struct AfterLayout
    {
        std::optional<Camera> camera; ///< the first of these that is set applies
        bool fits = false;
        std::optional<Anchor> anchor;
        std::optional<graph::NodeId> node; ///< node to show
    };

    void connectBar();
    void connectFind();
    void connectCanvas(Canvas *canvas);
    void openDocument();
    void startLayout(std::vector<char> open, AfterLayout after, bool isPatient = false);
    void layOutNewModel(std::vector<char> open);
    void take(LayoutAnswer answer);
    void setFolding(std::vector<char> open, std::optional<layout::ItemRef> anchor);
    std::optional<Anchor> anchorAt(const layout::ItemRef &ref) const;
    void recolour();
    void emphasise();
    void hoverItem(ItemIndex item);
    void showHovered();
    void feedCanvases();
    void showCamera(const Camera &camera);
    void goTo(const std::optional<View> &view);
    std::optional<layout::ItemRef> itemInTheMiddle() const;
    void landOnContent(ItemIndex opened);
    void centreOn(graph::NodeId node);
    void reveal(ItemIndex item, const Canvas &canvas);
    bool isCurrentWithin(
        const QSize &view) const; ///< the box of the current node, as far as it fits into the view
    void bringIntoSight();
    void showCounterpartOf(ItemIndex item, const Canvas *clicked);
    void openOrClose(ItemIndex item);
    void showSource(ItemIndex reader, const QPoint &globalPos);
    void goUp();
    void dragItem(ItemIndex item);
    void handleKey(int key, Qt::KeyboardModifiers modifiers);
    void run(GraphCommand command, int key, Qt::KeyboardModifiers modifiers);
    void leave();
    void showFound(bool backward);
    ItemIndex currentItem() const;
    layout::BlockId foldableBlock() const; ///< that foldAround() folds; kRoot for none
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

    std::shared_ptr<const Scene> m_scene;
    std::shared_ptr<const session::Snapshot> m_preview; ///< null: the controller's is shown
    Appearance m_appearance;
    SceneSelector m_selector;
    ViewNavigator m_navigator;
    layout::BlockId m_menuFrame = layout::kNoBlock; ///< whose menu is open
    layout::Detail m_detail = layout::Detail::Computed;
    AfterLayout m_after;
    LayoutJob m_job; ///< last: ends first
};

} // namespace halftone::widgets
