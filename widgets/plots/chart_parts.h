#pragma once

#include "core/tensor/dtype.h"

#include <QColor>
#include <QFont>
#include <QPen>
#include <QString>

#include <vector>

class QCPAbstractItem;
class QCPAxis;
class QCPAxisRect;
class QCPItemLine;
class QCPItemText;

namespace halftone::widgets {

/// Colours and type of one drawing, from the palette.
struct ChartLook
{
    QColor ground;
    QColor text;
    QColor bars;
    QColor second;
    QColor warning; ///< of what is clipped, or lies outside a format
    QColor accent; ///< of the threshold in hand
    QFont font;
    tensor::DType target = tensor::DType::F16; ///< whose range is shown
    bool isDark = false;
};

/// Where an item's positions count along one axis.
enum class Place
{
    Coords, ///< of the axis
    Share ///< of the rectangle, from its left or upper edge
};

/// Ties every position of an item to a rectangle, beyond which the item is not drawn.
void anchor(QCPAbstractItem *item, QCPAxisRect *rect, Place x, Place y);

/// Highest count of a logarithmic axis from `lowest` on, so that bars up to `highest` leave the upper `room` pixels of the
/// rectangle free.
double upperLimit(double lowest, double highest, const QCPAxisRect *rect, int room);

/// Vertical lines with a word each at the upper edge, in rows so that words do not overlap.
class LabelledMarks
{
public:
    explicit LabelledMarks(QCPAxisRect *rect)
        : m_rect(rect)
    {
    }

    void clear();
    void add(double at, const QString &text, const QPen &pen, const ChartLook &look);
    void place(); ///< for the axis and the size as they are; those outside are hidden
    int height() const { return m_rows * m_line; } ///< of the rows of words, in pixels; after place()

private:
    struct Mark
    {
        double at = 0;
        int width = 0;
        QCPItemLine *line = nullptr;
        QCPItemText *text = nullptr;
    };

    QCPAxisRect *m_rect;
    std::vector<Mark> m_marks;
    int m_rows = 0;
    int m_line = 0;
};

} // namespace halftone::widgets
