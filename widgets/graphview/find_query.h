#pragma once

#include "core/policy/pattern.h"
#include "core/session/snapshot.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace halftone::widgets {

/// What the find panel looks for. Terms are separated by blanks, and all of them must hold:
/// - `error > 0.01`, `sqnr < 30 dB`, `time > 100 us`, `overflow > 0`: a figure of the node; one without it is no match
/// - `op:conv`, `name:stage2`, `type:b16`, `shape:64x32`: a part of one property, whatever the case
/// - `type = f16`, `op = Convolution`: the whole of a property, as in the filter above the layers
/// - `/stage[34]_/`: a pattern over name and operator, matched in linear time (policy::Pattern)
/// - any other word: part of name, operator or shape, whatever the case
class FindQuery
{
public:
    static FindQuery parse(const QString &text);
    static QString help();

    bool isEmpty() const { return m_terms.empty(); }
    const QString &error() const { return m_error; } ///< what is wrong with it; it then matches nothing

    /// What it asks for that nothing has been computed of, and how to get it; empty when all is there.
    QString missing(const session::Figures &figures) const;

    /// The operators that match, then the variables, each in topological order.
    std::vector<graph::NodeId> run(const session::Snapshot &snapshot, const session::Figures &figures) const;

private:
    enum class Field
    {
        Any,
        Name,
        Operator,
        Type,
        Shape,
        Pattern,
        Error, ///< relative L2
        Sqnr,
        MaxAbs,
        Time,
        Overflow,
    };
    struct Term
    {
        Field field = Field::Any;
        QString text; ///< in lower case
        std::optional<policy::Pattern> pattern;
        QString sign;
        double bound = 0;
        bool isWhole = false; ///< of a text: all of it, not a part
    };

    void addComparison(const QString &field, const QString &sign, const QString &number, const QString &unit);
    static std::optional<Field> propertyOf(const QString &name);
    void addWord(const QString &word);
    static std::optional<double> figureOf(Field field, const session::NodeFigures &figures);
    bool holds(const Term &term, const session::Snapshot &snapshot, const session::Figures &figures,
               graph::NodeId node) const;

    std::vector<Term> m_terms;
    QString m_error;
};

} // namespace halftone::widgets
