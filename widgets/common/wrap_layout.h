#pragma once

#include <QLayout>
#include <QList>

namespace halftone::widgets {

/// Widgets beside each other that go on in a further row where there is no more room: as narrow as the widest of them. Those
/// whose size policy expands, or ignores what they ask for, share what a row has left.
class WrapLayout : public QLayout
{
    Q_OBJECT

public:
    explicit WrapLayout(QWidget *parent = nullptr);
    ~WrapLayout() override;

    void addItem(QLayoutItem *item) override; ///< takes it
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem *itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem *takeAt(int index) override;

    Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize minimumSize() const override; ///< of one row of the widest
    QSize sizeHint() const override; ///< of all in one row
    void setGeometry(const QRect &rect) override;

private:
    struct Placed
    {
        QLayoutItem *item = nullptr;
        QRect rect;
    };
    int wishedWidth(const QLayoutItem &item) const;
    /// Rows of the visible items within `room`.
    QList<Placed> arranged(const QRect &room) const;
    static void finishRow(QList<Placed> &placed, qsizetype first, const QRect &room);

    QList<QLayoutItem *> m_items;
};

} // namespace halftone::widgets
