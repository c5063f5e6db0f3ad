#pragma once

#include "core/layout/title_row.h"
#include "widgets/graphview/camera.h"
#include "widgets/graphview/emphasis.h"
#include "widgets/graphview/looks.h"
#include "widgets/graphview/tones.h"

#include <QFont>
#include <QStaticText>

#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

class QPainter;

namespace halftone::widgets {

/// All that a picture is drawn from. What is given stays as it is as long as a picture holds it, so that a picture that is shown late, or not
/// at all, never reads what is gone. Looks and emphasis are of the scene.
struct PaintInput
{
    std::shared_ptr<const Scene> scene;
    std::shared_ptr<const Looks> looks;
    std::shared_ptr<const Emphasis> emphasis;
    std::shared_ptr<const session::Snapshot> snapshot;
    ColourBy colourBy = ColourBy::Precision;
    bool converted = true;
};

/// Draws the visible part of a scene with as much detail as its scale can show: from coloured dots over boxes to names,
/// operators and the types on edges; what is too many to be read is drawn plainly. Keeps laid out text between calls.
class ScenePainter
{
public:
    ScenePainter(const QPalette &palette, const QFont &font);

    const Tones &tones() const { return m_tones; }
    /// area        of the view, in view coordinates
    /// part        of it, which alone is drawn: as it would be with all the rest, so that parts make up a picture
    /// mostLabels  that are laid out anew; others are missing until the next call. Not counted where the scene is a new one.
    void paint(QPainter &painter, const QRectF &area, const QRectF &part, const Camera &camera,
               const PaintInput &input, std::size_t mostLabels = std::numeric_limits<std::size_t>::max());
    /// The name of a frame whose own title has left the view.
    struct TitleAbove
    {
        ItemIndex item = 0;
        QString text;
        QRectF place; ///< in the view
    };
    /// These names, so that one knows where one is: over no node's box, and over no title that is in view.
    std::vector<TitleAbove> titlesAbove(const QRectF &area, const Camera &camera, const PaintInput &input);
    /// Draws them over the picture; they do not move with it.
    void paintTitlesAbove(QPainter &painter, const QRectF &area, const Camera &camera,
                          const PaintInput &input);
    const std::vector<QRectF> &titles() const
    {
        return m_titles;
    } ///< in view, as far as the last call placed them
    /// Would an area be drawn without what cannot be read? Parts of one picture must agree.
    bool isPlainIn(const QRectF &area, const Camera &camera, const Scene &scene);
    /// While one zooms, many items are drawn without their texts, which would be set in another size for every frame.
    void setZooming(bool zooming) { m_isZooming = zooming; }
    bool isZooming() const { return m_isZooming; }
    bool isComplete() const { return m_isComplete; } ///< of the last picture: are all labels there?

private:
    static constexpr double kDetailShare = 0.86; ///< size of second text against the first

    struct Label
    {
        QString source;
        QStaticText text;
        qreal room = 0; ///< that it was laid out for
        qreal whole = 0; ///< its width where nothing is left out, else 0
    };

    struct FrameTitle
    {
        ItemIndex item;
        QString text;
        qreal y; ///< of its middle
        layout::TitlePlaces places;
    };

    void takeLabels(const PaintInput &input);
    void see(const QRectF &part, const Scene &scene);
    void paintFrames(QPainter &painter, const PaintInput &input);
    void placeFrameTitle(const PaintInput &input, ItemIndex index, const QRectF &rect);
    void paintFrameTitles(QPainter &painter, const PaintInput &input);
    void paintEdges(QPainter &painter, const PaintInput &input);
    void paintFarEdges(QPainter &painter, const PaintInput &input);
    void paintCasts(QPainter &painter, const PaintInput &input);
    void paintPairs(QPainter &painter, const PaintInput &input);
    void paintPorts(QPainter &painter, const PaintInput &input);
    void paintEdgeLabels(QPainter &painter, const PaintInput &input);
    QRectF castBox(const SceneEdge &edge, const CastMark &mark) const;
    void paintItem(QPainter &painter, const PaintInput &input, ItemIndex index);
    void paintFarItem(QPainter &painter, const PaintInput &input, ItemIndex index);
    void paintPlainItem(QPainter &painter, const PaintInput &input, ItemIndex index);
    void paintMix(QPainter &painter, const QRectF &bar, const ItemLook &look, bool isFaded);
    void paintBadge(QPainter &painter, qreal middle, const ItemLook &look, bool isFaded, qreal &right);
    void paintStub(QPainter &painter, const QRectF &rect, const ItemLook &look, bool isFaded);
    void paintRings(QPainter &painter, const PaintInput &input, ItemIndex index, const QRectF &rect);
    void paintWarning(QPainter &painter, const QPointF &centre);
    void diamond(QPainter &painter, const QPointF &centre, const Tone &tone, bool isHollow, bool isFaded);
    QString detailOf(const PaintInput &input, const SceneItem &item, const ItemLook &look) const;
    QColor bodyOf(const PaintInput &input, const ItemLook &look, bool isFaded) const;
    /// Left-aligned and elided in the middle; where: the middle of its left end.
    void drawLabel(QPainter &painter, ItemIndex item, int part, const QString &text, const QFont &font,
                   const QPointF &where, qreal room);
    std::uint64_t keyOf(ItemIndex item, int part) const;
    /// Of a text that never changes.
    qreal advanceOf(ItemIndex item, int part, const QString &text, const QFont &font);
    void paintFrame(QPainter &painter, const QRectF &rect, const QColor &ground, const QColor &border) const;
    QFont scaledFont(double share) const;
    bool isReadable(double share) const;

    Tones m_tones;
    QFont m_font;
    double m_pixels; ///< of m_font
    std::shared_ptr<const Scene> m_labelled; ///< that m_labels belong to
    int m_labelPixels = 0; ///< of the present font: one zooms back and forth over few sizes
    std::unordered_map<std::uint64_t, Label> m_labels;
    std::unordered_map<std::uint64_t, qreal> m_advances;

    std::size_t m_labelsLeft = 0; ///< that this picture may lay out
    bool m_isComplete = true;
    bool m_isPlain = false;
    bool m_isZooming = false;
    Camera m_camera; ///< of the picture being drawn
    std::vector<ItemIndex> m_items;
    std::vector<std::uint32_t> m_edges;
    std::vector<FrameTitle> m_frameTitles;
    std::vector<QRectF>
        m_titles; ///< of frames, badges on edges, and ports, where labels of edges have no place
};

/// A figure with its unit, as nodes and read-outs show it.
QString figureText(ColourBy colourBy, double value);
/// "f16"; "f16→f32" where a runtime ran the node in another type.
QString badgeText(const ItemLook &look, const Tone &tone);

/// What an edge carries: the type and shape of its first value, and how many others go the same way. Empty where nothing is known.
QString edgeText(const PaintInput &input, const SceneEdge &edge);

/// The place a share of the way along a line.
QPointF alongLine(const QPolygonF &line, double share);

} // namespace halftone::widgets
