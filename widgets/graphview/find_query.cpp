#include "widgets/graphview/find_query.h"

#include "widgets/common/formatters.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halftone::widgets {
namespace {

using graph::NodeId;

QString say(const char *text)
{
    return QCoreApplication::translate("FindQuery", text);
}

QString shapeKey(const session::Snapshot &snapshot, NodeId node)
{
    if (!snapshot.shapes || node >= snapshot.shapes->byNode.size() || snapshot.shapes->byNode[node].empty())
        return {};
    return shapeText(snapshot.shapes->byNode[node].front()).replace(QChar(0xd7), QChar('x'));
}

/// To microseconds; nothing for a unit that is none of time.
std::optional<double> factorOf(const QString &unit)
{
    if (unit.isEmpty() || unit == QStringLiteral("us") || unit == QStringLiteral("µs"))
        return 1;
    if (unit == QStringLiteral("ms"))
        return 1000;
    if (unit == QStringLiteral("s"))
        return 1e6;
    return std::nullopt;
}

bool compares(double value, const QString &sign, double bound)
{
    if (std::isnan(value)) // a failed layer is as bad as can be
        return sign.startsWith(QChar('>'));
    if (sign == QStringLiteral(">"))
        return value > bound;
    if (sign == QStringLiteral(">="))
        return value >= bound;
    if (sign == QStringLiteral("<"))
        return value < bound;
    if (sign == QStringLiteral("<="))
        return value <= bound;
    return value == bound;
}

} // namespace

QString FindQuery::help()
{
    return say(
        "Name, operator or shape; /pattern/; op:conv; type = b16; shape:64x32; error > 0.01; sqnr < 30; "
        "max_abs > 1; time > 100 us; overflow > 0");
}

FindQuery FindQuery::parse(const QString &text)
{
    static const QRegularExpression kTerm(QStringLiteral(
        R"((?<property>name|op|type|shape)\s*=\s*(?<whole>\S+))"
        R"(|(?<field>[A-Za-z_]+)\s*(?<sign>>=|<=|>|<|=)\s*(?<number>[-+0-9.eE]+)\s*(?<unit>us|µs|ms|s|dB)?(?=\s|$))"
        R"(|/(?<pattern>(?:[^/\\]|\\.)+)/(?=\s|$)|(?<word>\S+))"));
    FindQuery query;
    for (auto terms = kTerm.globalMatch(text); terms.hasNext();) {
        const QRegularExpressionMatch term = terms.next();
        if (const auto property = propertyOf(term.captured(QStringLiteral("property")))) {
            QString whole = term.captured(QStringLiteral("whole")).toLower();
            if (*property == Field::Shape)
                whole.replace(QChar(0xd7), QChar('x')).replace(QChar(','), QChar('x'));
            query.m_terms.push_back({*property, whole, std::nullopt, {}, 0, true});
        } else if (!term.captured(QStringLiteral("field")).isEmpty()) {
            query.addComparison(
                term.captured(QStringLiteral("field")).toLower(), term.captured(QStringLiteral("sign")),
                term.captured(QStringLiteral("number")), term.captured(QStringLiteral("unit")));
        } else if (const QString source = term.captured(QStringLiteral("pattern")); !source.isEmpty()) {
            auto pattern = policy::Pattern::compile(source.toStdString());
            if (pattern.ok())
                query.m_terms.push_back({Field::Pattern, source, std::move(pattern).value(), {}, 0, false});
            else
                query.m_error = plain(pattern.error().message());
        } else {
            query.addWord(term.captured(QStringLiteral("word")));
        }
    }
    return query;
}

void FindQuery::addComparison(const QString &field, const QString &sign, const QString &number,
                              const QString &unit)
{
    static const std::pair<const char *, Field> kFields[]
        = {{"error", Field::Error}, {"sqnr", Field::Sqnr},    {"max_abs", Field::MaxAbs},
           {"time", Field::Time},   {"latency", Field::Time}, {"overflow", Field::Overflow}};
    const auto *place = std::ranges::find_if(
        kFields, [&](const auto &known) { return field == QLatin1String(known.first); });
    if (place == std::end(kFields)) {
        m_error = say("unknown figure \"%1\"; known are error, sqnr, max_abs, time, overflow").arg(field);
        return;
    }
    bool isNumber = false;
    Term term{place->second, {}, std::nullopt, sign, number.toDouble(&isNumber), false};
    if (!isNumber) {
        m_error = say("\"%1\" is not a number").arg(number);
        return;
    }
    if (term.field == Field::Time) {
        const auto factor = factorOf(unit);
        if (!factor)
            m_error = say("unknown unit \"%1\"").arg(unit);
        term.bound *= factor.value_or(1);
    }
    m_terms.push_back(std::move(term));
}

std::optional<FindQuery::Field> FindQuery::propertyOf(const QString &name)
{
    static const std::pair<const char *, Field> kFields[]
        = {{"name", Field::Name}, {"op", Field::Operator}, {"type", Field::Type}, {"shape", Field::Shape}};
    for (const auto &[known, field] : kFields) {
        if (name == QLatin1String(known))
            return field;
    }
    return std::nullopt;
}

void FindQuery::addWord(const QString &word)
{
    Term term{Field::Any, word.toLower(), std::nullopt, {}, 0, false};
    const qsizetype colon = term.text.indexOf(QChar(':'));
    if (const auto property = propertyOf(term.text.left(std::max<qsizetype>(colon, 0)))) {
        term.field = *property;
        term.text.remove(0, colon + 1);
    }
    if (term.field == Field::Shape)
        term.text.replace(QChar(0xd7), QChar('x')).replace(QChar(','), QChar('x'));
    if (!term.text.isEmpty())
        m_terms.push_back(std::move(term));
}

std::optional<double> FindQuery::figureOf(Field field, const session::NodeFigures &figures)
{
    if (field == Field::Time)
        return figures.mixed ? std::optional(figures.mixed->microseconds) : std::nullopt;
    if (!figures.cumulative)
        return std::nullopt;
    switch (field) {
    case Field::Error:
        return figures.cumulative->relativeL2;
    case Field::Sqnr:
        return std::isnan(figures.cumulative->sqnrDb) ? -std::numeric_limits<double>::infinity()
                                                      : figures.cumulative->sqnrDb;
    case Field::MaxAbs:
        return figures.cumulative->maxAbs;
    default:
        return static_cast<double>(figures.cumulative->overflow + figures.cumulative->nan);
    }
}

bool FindQuery::holds(const Term &term, const session::Snapshot &snapshot, const session::Figures &figures,
                      NodeId node) const
{
    const graph::NodeDef &def = snapshot.graph().node(node);
    const auto has = [&](const QString &text) {
        return term.isWhole ? text.compare(term.text, Qt::CaseInsensitive) == 0
                            : text.contains(term.text, Qt::CaseInsensitive);
    };
    switch (term.field) {
    case Field::Any:
        return has(plain(def.name)) || (!def.isVariable() && has(plain(def.op)))
            || has(shapeKey(snapshot, node));
    case Field::Name:
        return has(plain(def.name));
    case Field::Operator:
        return !def.isVariable() && has(plain(def.op));
    case Field::Shape:
        return has(shapeKey(snapshot, node));
    case Field::Type: {
        const tensor::DType type = snapshot.precisionOf(node);
        const std::string_view name = tensor::nameOf(type);
        return has(shortType(type))
            || has(QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size())));
    }
    case Field::Pattern:
        return term.pattern->matches(def.name) || (!def.isVariable() && term.pattern->matches(def.op));
    default:
        break;
    }
    if (node >= figures.nodes.size())
        return false;
    const auto value = figureOf(term.field, figures.nodes[node]);
    return value && compares(*value, term.sign, term.bound);
}

QString FindQuery::missing(const session::Figures &figures) const
{
    const auto lacks = [&](bool isTime) {
        const bool isAsked = std::ranges::any_of(m_terms, [&](const Term &term) {
            return term.field >= Field::Error && (term.field == Field::Time) == isTime;
        });
        return isAsked && std::ranges::none_of(figures.nodes, [&](const session::NodeFigures &node) {
                   return isTime ? node.mixed.has_value() : node.cumulative.has_value();
               });
    };
    if (lacks(false))
        return say("No errors have been computed yet: attach data and wait for the comparison.");
    if (lacks(true))
        return say("No times have been measured yet: turn on \"latency\" in the tool bar.");
    return {};
}

std::vector<NodeId> FindQuery::run(const session::Snapshot &snapshot, const session::Figures &figures) const
{
    std::vector<NodeId> found;
    if (m_terms.empty() || !m_error.isEmpty())
        return found;
    for (NodeId node = 0; node < snapshot.graph().nodeCount(); ++node) {
        if (std::ranges::all_of(m_terms,
                                [&](const Term &term) { return holds(term, snapshot, figures, node); }))
            found.push_back(node);
    }
    std::stable_partition(found.begin(), found.end(),
                          [&](NodeId node) { return !snapshot.graph().isVariable(node); });
    return found;
}

} // namespace halftone::widgets
