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

    static constexpr qsizetype kNowhere = -1;

    /// From where on the text is in the colour of warnings.
    void setWarnsFrom(qsizetype place);
    qsizetype warnsFrom() const { return m_warnsFrom; }
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    QString shown(int width) const;

    Holds m_holds;
    qsizetype m_warnsFrom = kNowhere;
};

} // namespace halftone::widgets
