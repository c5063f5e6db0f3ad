#pragma once

#include <QLabel>

namespace halftone::widgets {

/// A line of plain text that may become narrower than it: the end is then "…", of a name a part before it, and the tool tip, where there is none of its
/// own, tells all of it.
class ElidedLabel : public QLabel
{
public:
    enum class Holds
    {
        Text,
        Name ///< whose end tells most
    };
    explicit ElidedLabel(QWidget *parent = nullptr, Holds holds = Holds::Text);

    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    QString shown(int width) const;

    Holds m_holds;
};

} // namespace halftone::widgets
