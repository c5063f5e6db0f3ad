#include "widgets/common/short_names.h"

#include "core/layout/name_cut.h"

#include <QAbstractItemModel>
#include <QEvent>
#include <QHeaderView>
#include <QTableView>
#include <QTimer>

#include <algorithm>
#include <utility>
#include <vector>

namespace halftone::widgets {
namespace {

/// One name in so many may lack what the others share: a model's last operator often has a name of its own.
constexpr qsizetype kOneOf = 4;
constexpr qsizetype kAlone = 2; ///< names that share nothing with neighbours
constexpr qsizetype kTailOneOf = 3; ///< likewise of its last word

constexpr qsizetype kLeastCompared = 4; ///< letters: of fewer none tells anything
constexpr qsizetype kMostCompared = 2000; ///< names, for each that is painted

constexpr int kAtOnce = 500; ///< rows whose names take no time that a person would notice
constexpr int kPauseMs = 250;

/// By letter: is it one?
std::vector<char> digitsOf(const QString &name)
{
    std::vector<char> digits;
    digits.reserve(static_cast<std::size_t>(name.size()));
    for (const QChar sign : name)
        digits.push_back(sign >= u'0' && sign <= u'9' ? 1 : 0);
    return digits;
}

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

/// The last word, with the sign before it; empty where only one follows `lead`.
QString lastWord(const QString &name, const QString &lead)
{
    qsizetype from = name.size() - 1;
    while (from > lead.size() && !endsWord(name[from]))
        --from;
    return from <= lead.size() ? QString() : name.mid(from);
}

/// The last word of all names that begin with `lead`, or of most where it is an appendix: "_fwd" tells nothing where few lack it,
/// "/MatMul" is a name's own. No number, which tells layers apart, and one word only: the end tells most.
QString sharedTail(const QStringList &names, const QString &lead)
{
    QHash<QString, qsizetype> counts;
    qsizetype all = 0;
    for (const QString &name : names) {
        if (!name.startsWith(lead))
            continue;
        ++all;
        if (const QString word = lastWord(name, lead); !word.isEmpty() && !word[1].isDigit())
            ++counts[word];
    }
    for (auto word = counts.cbegin(); word != counts.cend(); ++word)
        if (word.value() == all
            || (word.key()[0] == '_' && word.value() * kTailOneOf > all * (kTailOneOf - 1)))
            return word.key();
    return {};
}

/// The last word that nearly all names have: of a table's tensors those that operators give may all end in "_output".
QString nearlySharedEnding(const QStringList &names)
{
    QHash<QString, qsizetype> counts;
    for (const QString &name : names) {
        QString word = lastWord(name, {});
        if (!word.isEmpty() && !std::as_const(word)[1].isDigit()
            && ++counts[word] * kOneOf >= names.size() * (kOneOf - 1))
            return word;
    }
    return {};
}

} // namespace

ShortNames::ShortNames(const QStringList &names, const QStringList &ofOneKind)
    : m_ending(ofOneKind.size() > kAlone ? nearlySharedEnding(ofOneKind) : QString())
{
    QStringList stems;
    for (const QString &name : names) {
        stems << stemOf(name);
        ++m_stems[stems.back()];
    }
    m_all = sharedBy(stems);
    if (m_all.lead.isEmpty()) { // families, each with a beginning of its own
        QHash<QString, QStringList> families;
        for (const QString &name : stems)
            families[leadingWord(name, 0)] << name;
        families.remove(QString());
        for (auto family = families.cbegin(); family != families.cend(); ++family)
            if (family->size() > kAlone)
                m_families.insert(family.key(), sharedBy(family.value()));
    }
    for (const QString &name : names) {
        ++m_counts[bareOf(name)];
        if (name.size() > m_longest.size())
            m_longest = name;
    }
    for (const QString &name : names)
        m_shown << shortened(name);
}

/// One name has no neighbours, and two that differ in their first word only would lose what they are.
ShortNames::Shared ShortNames::sharedBy(const QStringList &names)
{
    if (names.size() <= kAlone)
        return {};
    const QString lead = sharedLead(names);
    return {lead, sharedTail(names, lead)};
}

QString ShortNames::stemOf(const QString &name) const
{
    const bool isLonger = name.size() > m_ending.size() && name.endsWith(m_ending);
    return isLonger ? name.chopped(m_ending.size()) : name;
}

QString ShortNames::bareOf(const QString &name) const
{
    const QString stem = stemOf(name);
    return bare(stem, sharedOf(stem));
}

ShortNames::Shared ShortNames::sharedOf(const QString &name) const
{
    return m_families.value(leadingWord(name, 0), m_all);
}

QString ShortNames::bare(const QString &name, const Shared &shared)
{
    if (!name.startsWith(shared.lead))
        return name;
    QString rest = name.mid(shared.lead.size());
    if (rest.size() > shared.tail.size() && rest.endsWith(shared.tail))
        rest.chop(shared.tail.size());
    return rest;
}

QString ShortNames::shortened(const QString &name) const
{
    QString rest = bareOf(name);
    if (!rest.isEmpty() && m_counts.value(rest) <= 1)
        return rest;
    const QString stem = stemOf(name);
    const QString &whole = m_stems.value(stem) <= 1 ? stem : name;
    return m_families.isEmpty() ? whole : bare(whole, m_all); // which tells as much as the whole
}

QString ShortNames::fitted(const QString &name, int width, const QFontMetrics &metrics) const
{
    if (metrics.horizontalAdvance(m_longest) <= width)
        return name;
    return cut(shortened(name), width, metrics);
}

/// "stage1_a_conv" and "stage2_a_conv" both end in "a_conv": where two cut names would read alike, more of the beginning is
/// kept.
QString ShortNames::cut(const QString &shortName, int width, const QFontMetrics &metrics) const
{
    const auto isAlone = [&](qsizetype left, qsizetype right) {
        const QString beginning = shortName.left(left);
        const QString end = shortName.right(right);
        return std::ranges::none_of(m_shown, [&](const QString &other) {
            return other != shortName && other.startsWith(beginning) && other.endsWith(end);
        });
    };
    QString usual = cutInMiddle(shortName, width, metrics);
    const qsizetype kept = usual.size() - 1;
    if (usual == shortName || kept < kLeastCompared || m_shown.size() > kMostCompared)
        return usual;
    const auto usualLeft
        = static_cast<qsizetype>(layout::nameCut(digitsOf(shortName), static_cast<std::size_t>(kept)).first);
    for (const qsizetype left : {usualLeft, kept / 3, kept / 2, kept * 2 / 3, kept}) {
        if (!isAlone(left, kept - left))
            continue;
        QString other = shortName.left(left) + QChar(0x2026) + shortName.right(kept - left);
        if (left == usualLeft || metrics.horizontalAdvance(other) <= width)
            return other;
    }
    return usual;
}

QString cutInMiddle(const QString &name, double width, const QFontMetricsF &metrics)
{
    if (metrics.horizontalAdvance(name) <= width)
        return name;
    const std::vector<char> digits = digitsOf(name);
    const auto cut = [&](qsizetype kept) {
        const auto [first, last] = layout::nameCut(digits, static_cast<std::size_t>(kept));
        return name.left(static_cast<qsizetype>(first)) + QChar(0x2026)
            + name.mid(static_cast<qsizetype>(last));
    };
    qsizetype fits = 1; // at least
    for (qsizetype tooMany = name.size(); fits + 1 < tooMany;) {
        const qsizetype middle = (fits + tooMany) / 2;
        (metrics.horizontalAdvance(cut(middle)) <= width ? fits : tooMany) = middle;
    }
    return cut(fits);
}

NameFollower::NameFollower(QTableView *view, const QAbstractItemModel *model, int column,
                           std::function<void(ShortNames)> take, std::function<bool(int)> isOfOneKind)
    : QObject(view)
    , m_view(view)
    , m_model(model)
    , m_column(column)
    , m_take(std::move(take))
    , m_isOfOneKind(std::move(isOfOneKind))
{
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, [this] {
        m_job.start([names = names()](const std::stop_token &) { return names.shortened(); },
                    [this](ShortNames shortened) { hand(std::move(shortened)); });
    });
    connect(model, &QAbstractItemModel::modelReset, this, [this] {
        m_pause.stop();
        m_job.cancel();
        if (m_model->rowCount() <= kAtOnce)
            hand(names().shortened());
        else
            m_pause.start();
    });
}

NameFollower::Names NameFollower::names() const
{
    Names names;
    const int rows = m_model->rowCount();
    names.all.reserve(rows);
    for (int row = 0; row < rows; ++row) {
        names.all << m_model->index(row, m_column).data().toString();
        if (m_isOfOneKind && m_isOfOneKind(row))
            names.ofOneKind << names.all.back();
    }
    return names;
}

void NameFollower::hand(ShortNames names)
{
    m_take(std::move(names));
    m_view->viewport()->update();
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
