#pragma once

#include "widgets/common/latest_job.h"

#include <QFontMetricsF>
#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <functional>

class QAbstractItemModel;
class QTableView;

namespace halftone::widgets {

/// Names as a table or list has room for them: without the words that nearly all of them begin with, and without the one
/// that most of these end with, so that what tells them apart is left. Where not all begin alike, those that do, such as the layers
/// of a backbone, are taken by themselves. A word ends at one of / _ . : - and is dropped whole.
class ShortNames
{
public:
    ShortNames() = default;
    /// ofOneKind  those among them whose last word, where nearly all of these share it, tells nothing: "_output" of the values among
    ///            a table's tensors
    explicit ShortNames(const QStringList &names, const QStringList &ofOneKind = {});
    /// Less what is shared; the whole name where that would be empty or another's.
    QString shortened(const QString &name) const;
    /// The whole name where the longest of all fits, else shortened(), cut where that is too wide: in the middle, or where
    /// no other name reads alike.
    /// width  in pixels
    QString fitted(const QString &name, int width, const QFontMetrics &metrics) const;

    const QString &longest() const { return m_longest; } ///< whole

private:
    struct Shared
    {
        QString lead;
        QString tail;
    };

    static Shared sharedBy(const QStringList &names);
    Shared sharedOf(const QString &name) const;
    static QString bare(const QString &name, const Shared &shared);
    QString stemOf(const QString &name) const; ///< without m_ending
    QString bareOf(const QString &name) const; ///< and without what its family shares

    QString cut(const QString &shortName, int width, const QFontMetrics &metrics) const;

    QString m_ending; ///< empty: none
    Shared m_all;
    QHash<QString, Shared> m_families; ///< by their first word
    QString m_longest;
    QStringList m_shown; ///< all of them, shortened
    QHash<QString, int> m_counts; ///< how many names have a short form
    QHash<QString, int> m_stems; ///< and how many one without m_ending
};

/// Cut in the middle, with two thirds of what is kept at the end, where names tell layers apart; not at a number that can stay whole
/// (layout/name_cut.h).
/// width  in pixels
QString cutInMiddle(const QString &name, double width, const QFontMetricsF &metrics);

/// Hands on the names of a view's column whenever its model has been reset: at once, and of many rows once resets have ceased for a
/// moment, since each edit is one, and from a thread of its own. The view's child.
class NameFollower : public QObject
{
    Q_OBJECT

public:
    /// isOfOneKind  of a row: ShortNames::ofOneKind; empty: none is
    NameFollower(QTableView *view, const QAbstractItemModel *model, int column,
                 std::function<void(ShortNames)> take, std::function<bool(int)> isOfOneKind = {});

private:
    struct Names
    {
        QStringList all;
        QStringList ofOneKind;

        ShortNames shortened() const { return ShortNames(all, ofOneKind); }
    };

    Names names() const;
    void hand(ShortNames names);

    QTableView *m_view;
    const QAbstractItemModel *m_model;
    int m_column;
    std::function<void(ShortNames)> m_take;
    std::function<bool(int)> m_isOfOneKind;
    QTimer m_pause;
    LatestJob m_job;
};

/// Gives a column of names the width that the others leave: never less than `least` pixels, and no more than the longest name
/// needs, so that in a wide window the figures stay near the names that they belong to. Done again when the view's width
/// changes, or columns are shown or hidden.
class FreeWidth : public QObject
{
    Q_OBJECT

public:
    FreeWidth(QTableView *view, int column, int least); ///< the view's child

    void setLongest(const QString &name);
    void give(); ///< anew: another column has become wider or narrower
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QTableView *m_view;
    int m_column;
    int m_least;
    QString m_longest; ///< empty: not known
};

} // namespace halftone::widgets
