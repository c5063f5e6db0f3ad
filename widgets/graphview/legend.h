#pragma once

#include "widgets/graphview/looks.h"

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QPainter;

namespace halftone::widgets {

class Canvas;
class Tones;

/// What the colours mean, with counts, in one line at the foot of a canvas. A click folds it to its mark and unfolds it.
class Legend : public QWidget
{
    Q_OBJECT

public:
    explicit Legend(Canvas *canvas);

    /// Counts operators and inserted casts, those of bodies of control flow, which have no boxes, included: as the status line does.
    /// converted  of which `looks` are; null: of the original
    void show(const Scene &scene, const Looks &looks, ColourBy colourBy, const session::Snapshot *converted);
    void place();
    bool isFolded() const { return m_isFolded; }
    void setFolded(bool isFolded);
    const std::vector<tensor::DType> &castTypes() const { return m_castTypes; }
    QString precisionsText() const; ///< "float32 4 · float16 10 · 6 casts inserted", as it is drawn

Q_SIGNALS:
    void foldedChanged(bool isFolded); ///< by a click

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;

private:
    struct Row
    {
        tensor::DType type = tensor::DType::Unknown;
        std::size_t count = 0;
    };

    /// Draws what it tells, or only measures where there is no painter. Its width.
    int put(QPainter *painter, const Tones &tones, bool isShort) const;
    int putPrecisions(QPainter *painter, const Tones &tones, bool isShort) const;
    int putScale(QPainter *painter, const Tones &tones, bool isShort) const;
    int putText(QPainter *painter, int left, const QString &text, const QColor &colour) const;
    int putBadge(QPainter *painter, int left, tensor::DType type, const Tones &tones) const;
    int putDiamond(QPainter *painter, int left, const QColor &colour) const;
    int putDiamonds(QPainter *painter, int left, const Tones &tones) const; ///< one of each colour
    int putFoldMark(QPainter *painter, int left, const Tones &tones) const;
    void countOperators(const Scene &scene, const Looks &looks, const session::Snapshot *converted);
    int partGap() const;
    QString castsText() const;
    int lineHeight() const;

    Canvas *m_canvas;
    ColourBy m_colourBy = ColourBy::Precision;
    std::vector<Row> m_rows;
    std::optional<std::size_t> m_casts;
    std::vector<tensor::DType> m_castTypes; ///< whose colours their marks have
    bool m_hasFigures = false;
    bool m_isStale = false;
    bool m_isShort = false; ///< names are left out
    bool m_isFolded = false;
    double m_low = 0;
    double m_high = 0;
    tensor::DType m_target = tensor::DType::F16;
};

} // namespace halftone::widgets
