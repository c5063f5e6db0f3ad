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

/// The graph of the opened model: folded into blocks, coloured by precision or by a figure, original, converted or both
/// side by side. Layout runs beside the window's thread, the newest wins, and what is on screen stays until then; an edit
/// only recolours. Shows and sets the controller's selection.
class GraphView : public QWidget
{
    Q_OBJECT

public:
    explicit GraphView(DocumentController *controller, QWidget *parent = nullptr);
    ~GraphView() override;

    ColourBy colourBy() const { return m_appearance.colourBy(); }
    Sides sides() const { return m_appearance.sides(); }
    /// Layout is under way or its picture not yet shown.
    bool isBusy() const;
    double scale() const { return m_navigator.camera().scale; }
    /// Null before the first layout.
    const Scene *scene() const { return m_scene.get(); }
    const Looks &looks() const { return m_appearance.looks(); } ///< of the converted side
    const Emphasis &emphasis() const { return m_appearance.emphasis(); }
    Canvas *canvas() const { return m_right; } ///< of the converted side, or the only one
    FindPanel *findPanel() const { return m_find; }
    Canvas *originalCanvas() const { return m_left; } ///< seen when both are side by side
    const PlainNote &plainNote() const { return *m_plainNote; }
    bool canGoBack() const { return m_navigator.canGoBack(); }
    bool canGoForward() const { return m_navigator.canGoForward(); }

    /// Which blocks are open, by BlockId; empty before the first layout.
    std::vector<char> openBlocks() const;
    /// Those that were open when a session was saved, in place of those that a model is first shown with; of another model, or
    /// folded in another way: nothing happens.
    void restoreOpenBlocks(std::vector<char> open);
    void setBlockOpen(layout::BlockId block, bool isOpen);
    /// What is seen now; nothing before the first layout.
    std::optional<View> view() const;
    /// Which is remembered before. Blocks of another model, or folded in another way, stay as they are; the place is shown all the
    /// same.
    void showView(View view);
    /// As writePicture(), of the present side.
    Result<void> exportTo(const QString &path);

public Q_SLOTS:
    void setColourBy(halftone::widgets::ColourBy colourBy);
    /// Coloured as another policy would make the model, until null comes or the lists change.
    void preview(std::shared_ptr<const halftone::session::Snapshot> snapshot);
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
    /// A place of the scene that stays under a place of the view while the layout changes.
    struct Anchor
    {
        layout::ItemRef item;
        QPointF view;
    };

    /// What happens when the layout that is under way has come.
    struct AfterLayout
    {
        std::optional<Camera> camera; ///< the first of these that is there
        bool fits = false;
        std::optional<Anchor> anchor;
        std::optional<graph::NodeId> node; ///< to be shown then
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
    bool isCurrentWithin(const QSize &view) const; ///< the current node's box, so far as the view is so large
    void bringIntoSight();
    void showCounterpartOf(ItemIndex item, const Canvas *clicked);
    void openOrClose(ItemIndex item);
    void goUp();
    void dragItem(ItemIndex item);
    void handleKey(int key, Qt::KeyboardModifiers modifiers);
    void run(GraphCommand command, int key, Qt::KeyboardModifiers modifiers);
    void leave();
    void showFound(bool backward);
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

    std::shared_ptr<const Scene> m_scene;
    std::shared_ptr<const session::Snapshot> m_preview; ///< null: the controller's is shown
    Appearance m_appearance;
    SceneSelector m_selector;
    ViewNavigator m_navigator;
    AfterLayout m_after;
    LayoutJob m_job; ///< last: ends first
};

} // namespace halftone::widgets
