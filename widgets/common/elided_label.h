#pragma once

#include <QLabel>

namespace halftone::widgets {

/// A line of plain text that may become narrower than it: the end is then "…", and the tool tip, where there is none of its
/// own, tells all of it.
class ElidedLabel : public QLabel
{
public:
    explicit ElidedLabel(QWidget *parent = nullptr);

    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;
};

} // namespace halftone::widgets
