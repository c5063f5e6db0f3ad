#include "widgets/common/text_block.h"

#include <QPainter>
#include <QStyle>
#include <QTextLayout>

#include <algorithm>

namespace halftone::widgets {

TextBlock::TextBlock(int lines, QWidget *parent)
    : QLabel(parent)
    , m_lines(lines)
{
    setTextFormat(Qt::PlainText);
    setAlignment(Qt::AlignLeft | Qt::AlignTop);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    setMaximumHeight(heightOf(lines));
}

QStringList TextBlock::shownLines() const
{
    const int most = std::max(1, contentsRect().height() / std::max(1, fontMetrics().lineSpacing()));
    const int width = contentsRect().width();
    QStringList lines;
    for (const QString &paragraph : text().split('\n')) {
        QTextLayout layout(paragraph, font());
        layout.beginLayout();
        for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
            line.setLineWidth(width);
            lines << paragraph.mid(line.textStart(), line.textLength()).trimmed();
        }
        layout.endLayout();
    }
    if (lines.size() > most) {
        const QString rest = lines.mid(most - 1).join(' ');
        lines = lines.mid(0, most - 1);
        lines << fontMetrics().elidedText(rest, Qt::ElideRight, width);
    }
    return lines;
}

void TextBlock::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment()), palette(), isEnabled(),
                          shownLines().join('\n'), foregroundRole());
}

} // namespace halftone::widgets
