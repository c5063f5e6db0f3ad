#include "widgets/common/short_names.h"

#include <QAbstractItemModel>
#include <QEvent>
#include <QHeaderView>
#include <QTableView>
#include <QTimer>

#include <algorithm>

namespace halftone::widgets {
namespace {

/// One name in so many may lack what the others share: a model's last operator often has a name of its own.
constexpr qsizetype kOneOf = 4;

constexpr int kAtOnce = 500; ///< rows whose names take no time that a person would notice
constexpr int kPauseMs = 250;

bool endsWord(QChar sign)
{
    return QStringLiteral("/_.:-").contains(sign);
}

/// The first word from `from` on, with the sign that ends it; empty where the name's last word begins there. A number stays
/// with the word before it: "layers.3" tells more than "3".
QString leadingWord(const QString &name, qsizetype from)
{
    for (qsizetype k = from; k + 1 < name.size(); ++k)
        if (endsWord(name[k]) && !name[k + 1].isDigit())
            return name.mid(from, k + 1 - from);
    return {};
}

/// The word after `lead` that nearly all names have; empty where there is none.
QString nextShared(const QStringList &names, const QString &lead)
{
    QHash<QString, qsizetype> counts;
    for (const QString &name : names) {
        QString word = name.startsWith(lead) ? leadingWord(name, lead.size()) : QString();
        if (!word.isEmpty() && ++counts[word] * kOneOf >= names.size() * (kOneOf - 1))
            return word;
    }
    return {};
}

QString sharedLead(const QStringList &names)
{
    QString lead;
    for (QString word = nextShared(names, lead); !word.isEmpty(); word = nextShared(names, lead))
        lead += word;
    return lead;
}

/// The last word, with the sign before it, if all names that begin with `lead` have it. One only: the end tells most.
QString sharedTail(const QStringList &names, const QString &lead)
{
    QString tail;
    for (const QString &name : names) {
        if (!name.startsWith(lead))
            continue;
        qsizetype from = name.size() - 1;
        while (from > lead.size() && !endsWord(name[from]))
            --from;
        if (from <= lead.size() || (!tail.isEmpty() && name.mid(from) != tail))
            return {};
        tail = name.mid(from);
    }
    return tail;
}

} // namespace

ShortNames::ShortNames(const QStringList &names)
{
    // One name has no neighbours, and two that differ in their first word only would lose what they are.
    if (names.size() > 2) {
        m_lead = sharedLead(names);
        m_tail = sharedTail(names, m_lead);
    }
    for (const QString &name : names) {
        ++m_counts[bare(name)];
        if (name.size() > m_longest.size())
            m_longest = name;
    }
}

ShortNames ShortNames::ofColumn(const QAbstractItemModel &model, int column)
{
    QStringList names;
    for (int row = 0; row < model.rowCount(); ++row)
        names << model.index(row, column).data().toString();
    return ShortNames(names);
}

QString ShortNames::bare(const QString &name) const
{
    if (!name.startsWith(m_lead))
        return name;
    QString rest = name.mid(m_lead.size());
    if (rest.size() > m_tail.size() && rest.endsWith(m_tail))
        rest.chop(m_tail.size());
    return rest;
}

QString ShortNames::shortened(const QString &name) const
{
    const QString rest = bare(name);
    return rest.isEmpty() || m_counts.value(rest) > 1 ? name : rest;
}

QString ShortNames::fitted(const QString &name, int width, const QFontMetrics &metrics) const
{
    if (metrics.horizontalAdvance(m_longest) <= width)
        return name;
    return cutInMiddle(shortened(name), width, metrics);
}

QString cutInMiddle(const QString &name, int width, const QFontMetrics &metrics)
{
    if (metrics.horizontalAdvance(name) <= width)
        return name;
    const auto cut = [&name](qsizetype kept) {
        return name.left(kept / 3) + QChar(0x2026) + name.right(kept - kept / 3);
    };
    qsizetype kept = 1;
    while (kept < name.size() - 1 && metrics.horizontalAdvance(cut(kept + 1)) <= width)
        ++kept;
    return cut(kept);
}

void followNames(QTableView *view, const QAbstractItemModel *model, int column,
                 const std::function<void(ShortNames)> &take)
{
    auto *const pause = new QTimer(view);
    pause->setSingleShot(true);
    pause->setInterval(kPauseMs);
    const auto hand = [view, model, column, take] {
        take(ShortNames::ofColumn(*model, column));
        view->viewport()->update();
    };
    QObject::connect(pause, &QTimer::timeout, view, hand);
    QObject::connect(model, &QAbstractItemModel::modelReset, view, [model, pause, hand] {
        if (model->rowCount() <= kAtOnce)
            hand();
        else
            pause->start();
    });
}

FreeWidth::FreeWidth(QTableView *view, int column, int least)
    : QObject(view)
    , m_view(view)
    , m_column(column)
    , m_least(least)
{
    view->viewport()->installEventFilter(this);
    const auto resized = [this](int which, int before, int now) {
        if (which != m_column && (before == 0) != (now == 0)) // shown or hidden
            QTimer::singleShot(0, this, &FreeWidth::give); // when the header knows its length
    };
    connect(view->horizontalHeader(), &QHeaderView::sectionResized, this, resized);
}

void FreeWidth::setLongest(const QString &name)
{
    m_longest = name;
    give();
}

bool FreeWidth::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Resize)
        give();
    return QObject::eventFilter(watched, event);
}

void FreeWidth::give()
{
    constexpr int kSides = 4; ///< characters' room beside a name
    const QFontMetrics metrics = m_view->fontMetrics();
    const int others = m_view->horizontalHeader()->length() - m_view->columnWidth(m_column);
    int width = m_view->viewport()->width() - others;
    if (!m_longest.isEmpty())
        width = std::min(width, metrics.horizontalAdvance(m_longest) + kSides * metrics.averageCharWidth());
    m_view->setColumnWidth(m_column, std::max(m_least, width));
}

} // namespace halftone::widgets
