#pragma once

#include <QLabel>

namespace halftone::widgets {

/// Wrapped plain text with room for some lines, which it gives up down to one where the window is low: then the last line that is seen ends
/// with "…", and the tool tip tells all. What is around it does not move when its text changes.
class TextBlock : public QLabel
{
public:
    explicit TextBlock(int lines, QWidget *parent = nullptr);

    QSize sizeHint() const override { return {0, heightOf(m_lines)}; }
    QSize minimumSizeHint() const override { return {0, heightOf(1)}; }
    bool hasHeightForWidth() const override { return false; }
    /// The lines as they are seen at the present size.
    QStringList shownLines() const;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    int heightOf(int lines) const { return lines * fontMetrics().lineSpacing(); }

    int m_lines;
};

} // namespace halftone::widgets
