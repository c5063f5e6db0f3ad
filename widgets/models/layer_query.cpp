#include "widgets/models/layer_query.h"

#include <array>

namespace halftone::widgets {
namespace {

struct Field
{
    QLatin1String name;
    int column;
};

const std::array kFields{
    Field{QLatin1String("error"), LayerTableModel::RelativeL2},
    Field{QLatin1String("isolated"), LayerTableModel::IsolatedRelativeL2},
    Field{QLatin1String("sqnr"), LayerTableModel::Sqnr},
    Field{QLatin1String("isolatedsqnr"), LayerTableModel::IsolatedSqnr},
    Field{QLatin1String("max"), LayerTableModel::MaxAbs},
    Field{QLatin1String("overflow"), LayerTableModel::Overflow},
    Field{QLatin1String("nan"), LayerTableModel::Nan},
    Field{QLatin1String("time"), LayerTableModel::MixedUs},
    Field{QLatin1String("fp32time"), LayerTableModel::Fp32Us},
    Field{QLatin1String("casts"), LayerTableModel::Casts},
    Field{QLatin1String("type"), LayerTableModel::Precision},
    Field{QLatin1String("op"), LayerTableModel::Operator},
    Field{QLatin1String("name"), LayerTableModel::Name},
};

std::optional<int> columnOf(const QString &field)
{
    for (const Field &one : kFields) {
        if (field.compare(one.name, Qt::CaseInsensitive) == 0)
            return one.column;
    }
    return std::nullopt;
}

/// Times are in microseconds, shares of one.
std::optional<double> factorOf(const QString &unit, int column)
{
    const bool isTime = column == LayerTableModel::MixedUs || column == LayerTableModel::Fp32Us;
    const bool isDecibel = column == LayerTableModel::Sqnr || column == LayerTableModel::IsolatedSqnr;
    if (unit.isEmpty() || (isTime && (unit == QLatin1String("us") || unit == QStringLiteral("\u00b5s")))
        || (isDecibel && unit.compare(QLatin1String("dB"), Qt::CaseInsensitive) == 0))
        return 1.0;
    if (isTime && unit == QLatin1String("ms"))
        return 1000.0;
    if (unit == QLatin1String("%") && !isTime && !isDecibel)
        return 0.01;
    return std::nullopt;
}

bool holds(double value, const QString &sign, double bound)
{
    if (sign == QLatin1String("<"))
        return value < bound;
    if (sign == QLatin1String("<="))
        return value <= bound;
    if (sign == QLatin1String(">"))
        return value > bound;
    if (sign == QLatin1String(">="))
        return value >= bound;
    return value == bound;
}

} // namespace

QString LayerQuery::help()
{
    return QStringLiteral(
        "Part of a name or operator, /regular expression/, type = f16, op = Convolution, error > 0.01, "
        "sqnr < 30, time > 100 us, overflow > 0, casts > 0. All terms must hold.");
}

bool LayerQuery::addComparison(const QString &field, const QString &sign, const QString &value,
                               const QString &unit)
{
    const std::optional<int> column = columnOf(field);
    if (!column) {
        m_error = QStringLiteral("unknown figure \u201c%1\u201d").arg(field);
        return false;
    }
    if (!LayerTableModel::isNumber(*column)) {
        if (sign != QLatin1String("=")) {
            m_error = QStringLiteral("%1 can only be compared with =").arg(field);
            return false;
        }
        m_equals.push_back({*column, value + unit});
        return true;
    }
    bool isRead = false;
    const double bound = value.toDouble(&isRead);
    const std::optional<double> factor = factorOf(unit, *column);
    if (!isRead || !factor) {
        m_error = isRead ? QStringLiteral("%1 is not measured in %2").arg(field, unit)
                         : QStringLiteral("%1 is not a number").arg(value + unit);
        return false;
    }
    m_comparisons.push_back({*column, sign, bound * *factor});
    return true;
}

LayerQuery LayerQuery::parse(const QString &text)
{
    static const QRegularExpression kTerm(QStringLiteral(
        "/((?:[^/\\\\]|\\\\.)+)/" // a pattern
        "|([A-Za-z0-9]+)\\s*(<=|>=|<|>|=)\\s*"
        "(?:([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)(?:\\s*(us|\u00b5s|ms|dB|%))?(?=\\s|$)"
        "|(\\S*))"
        "|(\\S+)"));
    LayerQuery query;
    auto terms = kTerm.globalMatch(text);
    while (terms.hasNext() && query.m_error.isEmpty()) {
        const QRegularExpressionMatch term = terms.next();
        if (term.hasCaptured(1)) {
            const QRegularExpression pattern(term.captured(1), QRegularExpression::CaseInsensitiveOption);
            if (!pattern.isValid())
                query.m_error = QStringLiteral("%1 at character %2")
                                    .arg(pattern.errorString())
                                    .arg(pattern.patternErrorOffset() + 1);
            query.m_patterns.push_back(pattern);
        } else if (term.hasCaptured(2)) {
            const QString value = term.hasCaptured(4) ? term.captured(4) : term.captured(6);
            query.addComparison(term.captured(2), term.captured(3), value, term.captured(5));
        } else {
            query.m_words << term.captured(7);
        }
    }
    return query;
}

bool LayerQuery::matches(const LayerTableModel &model, int row) const
{
    if (!m_error.isEmpty())
        return true;
    const auto textAt = [&](int column) { return model.index(row, column).data(Qt::DisplayRole).toString(); };
    if (!m_words.isEmpty() || !m_patterns.empty()) {
        const QString name = textAt(LayerTableModel::Name);
        const QString op = textAt(LayerTableModel::Operator);
        for (const QString &word : m_words) {
            if (!name.contains(word, Qt::CaseInsensitive) && !op.contains(word, Qt::CaseInsensitive))
                return false;
        }
        for (const QRegularExpression &pattern : m_patterns) {
            if (!name.contains(pattern) && !op.contains(pattern))
                return false;
        }
    }
    for (const Equal &equal : m_equals) {
        // Of "f32 → f16" the type that it computes in now counts.
        const QString value = textAt(equal.column).section(QLatin1Char(' '), -1);
        if (value.compare(equal.text, Qt::CaseInsensitive) != 0)
            return false;
    }
    for (const Comparison &comparison : m_comparisons) {
        const QVariant value = model.index(row, comparison.column).data(LayerTableModel::SortRole);
        if (!value.isValid() || !holds(value.toDouble(), comparison.sign, comparison.bound))
            return false;
    }
    return true;
}

} // namespace halftone::widgets
