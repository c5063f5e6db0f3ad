#include "widgets/common/formatters.h"
#include "widgets/models/list_entries.h"

#include <QStringList>

#include <tuple>

namespace halftone::widgets {
namespace {

using policy::List;

int rankOf(const ListEntry &entry)
{
    using Kind = ListEntry::Kind;
    if (entry.kind == Kind::Node || entry.kind == Kind::Nodes || entry.kind == Kind::Pattern)
        return 1;
    return entry.inModel ? 0 : 2;
}

} // namespace

QString ListEntry::text() const
{
    if (kind == Kind::Nodes)
        return plain(name) + QStringLiteral(" \u00b7 %1 nodes").arg(members.size());
    if (kind != Kind::Condition)
        return plain(name);
    QStringList values;
    for (const std::string &value : rule.values)
        values << plain(value);
    return plain(name) + QStringLiteral(" \u00b7 ") + plain(rule.attribute) + QStringLiteral(" = ")
        + values.join(QStringLiteral(", "));
}

bool isBefore(const ListEntry &a, const ListEntry &b)
{
    if (const int x = rankOf(a), y = rankOf(b); x != y)
        return x < y;
    if (const int order = plain(a.name).compare(plain(b.name), Qt::CaseInsensitive); order != 0)
        return order < 0;
    if (const auto x = std::tie(a.name, a.kind, a.ruleIndex), y = std::tie(b.name, b.kind, b.ruleIndex);
        x != y)
        return x < y;
    return a.kind == ListEntry::Kind::Nodes && a.idle < b.idle; // two groups of one operator differ in that
}

ListId listIdOf(List list)
{
    switch (list) {
    case List::Target:
        return ListId::Target;
    case List::Fp32:
        return ListId::Fp32;
    case List::Widest:
        return ListId::Widest;
    case List::Conditional:
        return ListId::Conditional;
    case List::Int8:
        return ListId::Int8;
    case List::Neutral:
        break;
    }
    return ListId::Neutral;
}

QString titleOf(ListId list, tensor::DType target)
{
    switch (list) {
    case ListId::Target:
        return plain(std::string(tensor::nameOf(target)));
    case ListId::Int8:
        return QStringLiteral("int8");
    case ListId::Fp32:
        return QStringLiteral("fp32");
    case ListId::Widest:
        return QStringLiteral("widest");
    case ListId::Conditional:
        return QStringLiteral("conditional");
    case ListId::Excluded:
        return QStringLiteral("excluded");
    case ListId::Neutral:
        break;
    }
    return QStringLiteral("neutral");
}

policy::List policyList(ListId list)
{
    switch (list) {
    case ListId::Target:
        return List::Target;
    case ListId::Int8:
        return List::Int8;
    case ListId::Fp32:
    case ListId::Excluded:
        return List::Fp32;
    case ListId::Widest:
        return List::Widest;
    case ListId::Conditional:
        return List::Conditional;
    case ListId::Neutral:
        break;
    }
    return List::Neutral;
}

ListId listOf(const policy::Rules &rules, const std::string &op)
{
    return rules.int8.contains(op) ? ListId::Int8 : listBelowInt8(rules, op);
}

ListId listBelowInt8(const policy::Rules &rules, const std::string &op)
{
    const auto place = rules.places.find(op);
    return place == rules.places.end() ? ListId::Neutral : listIdOf(place->second.list);
}

} // namespace halftone::widgets
