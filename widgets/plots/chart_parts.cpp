#include "widgets/plots/chart_parts.h"

#include "widgets/plots/custom_plot.h"

#include <QFontMetrics>

#include <algorithm>
#include <cmath>

namespace halftone::widgets {

void anchor(QCPAbstractItem *item, QCPAxisRect *rect, Place x, Place y)
{
    const auto type = [](Place place) {
        return place == Place::Coords ? QCPItemPosition::ptPlotCoords : QCPItemPosition::ptAxisRectRatio;
    };
    for (QCPItemPosition *position : item->positions()) {
        position->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
        position->setAxisRect(rect);
        position->setTypeX(type(x));
        position->setTypeY(type(y));
    }
    item->setClipAxisRect(rect);
    item->setClipToAxisRect(true);
    item->setSelectable(false);
}

double upperLimit(double lowest, double highest, const QCPAxisRect *rect, int room)
{
    const double share = std::clamp(1 - static_cast<double>(room) / std::max(1, rect->height()), 0.3, 1.0);
    constexpr double kLeastSpan
        = 41; // below, the axis has no powers of ten to name and falls back to even steps
    return lowest * std::pow(std::max(highest * 1.2 / lowest, kLeastSpan), 1 / share);
}

void LabelledMarks::clear()
{
    for (const Mark &mark : m_marks) {
        m_rect->parentPlot()->removeItem(mark.line);
        m_rect->parentPlot()->removeItem(mark.text);
    }
    m_marks.clear();
    m_rows = 0;
}

void LabelledMarks::add(double at, const QString &text, const QPen &pen, const ChartLook &look)
{
    const QFontMetrics metrics(look.font);
    Mark mark{at, metrics.horizontalAdvance(text) + 6, new QCPItemLine(m_rect->parentPlot()),
              new QCPItemText(m_rect->parentPlot())};
    for (QCPAbstractItem *item :
         {static_cast<QCPAbstractItem *>(mark.line), static_cast<QCPAbstractItem *>(mark.text)})
        anchor(item, m_rect, Place::Coords, Place::Share);
    mark.line->setPen(pen);
    QColor ground = look.ground;
    ground.setAlpha(210);
    mark.text->setBrush(ground);
    mark.text->setPen(Qt::NoPen);
    mark.text->setColor(look.text);
    mark.text->setFont(look.font);
    mark.text->setText(text);
    mark.text->setPadding(QMargins(3, 0, 3, 0));
    m_line = metrics.height();
    m_marks.push_back(mark);
}

/// From right to left, each word in the first row where it is clear of those to its right.
void LabelledMarks::place()
{
    const QCPAxis *const axis = m_rect->axis(QCPAxis::atBottom);
    std::ranges::sort(m_marks, std::greater<>(), &Mark::at);
    std::vector<double> taken; // by row: where its leftmost word begins
    m_rows = 0;
    // What is drawn keeps half of the height; words that find no row then are left out, their lines are not.
    const auto most = static_cast<std::size_t>(std::max(1, m_rect->height() / (2 * std::max(1, m_line))));
    for (const Mark &mark : m_marks) {
        const bool isShown = axis->range().contains(mark.at);
        mark.line->setVisible(isShown);
        mark.text->setVisible(isShown);
        if (!isShown)
            continue;
        const double x = axis->coordToPixel(mark.at);
        // To the left of its line, where there is room.
        const bool isLeft = x - mark.width >= m_rect->left();
        const double from = isLeft ? x - mark.width : x;
        std::size_t row = 0;
        while (row < taken.size() && from + mark.width > taken[row])
            ++row;
        const bool hasRoom = row < most;
        mark.text->setVisible(hasRoom);
        if (hasRoom && row == taken.size())
            taken.push_back(0);
        if (hasRoom)
            taken[row] = from;
        const double top = static_cast<double>(hasRoom ? row : 0) * m_line / std::max(1, m_rect->height());
        mark.line->start->setCoords(mark.at, top);
        mark.line->end->setCoords(mark.at, 1);
        mark.text->position->setCoords(mark.at, top);
        mark.text->setPositionAlignment((isLeft ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
    }
    m_rows = static_cast<int>(taken.size());
}

} // namespace halftone::widgets
