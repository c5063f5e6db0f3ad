#include "widgets/common/query_texts.h"

#include "core/session/node_query.h"
#include "widgets/common/formatters.h"

#include <QCoreApplication>
#include <QStringList>

namespace halftone::widgets {

QString withQueryExamples(const QString &begin)
{
    QStringList examples;
    for (const std::string_view example : session::nodeQueryExamples())
        examples << plain(std::string(example));
    return begin + QLatin1Char(' ') + examples.join(QStringLiteral(" \u00b7 "));
}

QString queryHelp()
{
    return QCoreApplication::translate("Query",
                                       "Words, /patterns/ and fields: op = Conv, op:conv, type = f16, error "
                                       "> 0.01, sqnr < 30dB, time > 100us; "
                                       "joined by and, or, not and ( ).");
}

QString queryToolTip()
{
    QStringList fields;
    for (const session::QueryField &field : session::nodeFields())
        fields << QLatin1String(field.names.front().data(),
                                static_cast<qsizetype>(field.names.front().size()));
    return queryHelp() + QLatin1Char('\n')
        + QCoreApplication::translate("Query", "Fields: %1").arg(fields.join(QStringLiteral(", ")));
}

QString queryFault(const Error &error)
{
    return QStringLiteral("\u26a0 ") + plain(error.message());
}

QString joinedNotes(const std::vector<std::string> &notes)
{
    QStringList all;
    for (const std::string &note : notes)
        all << plain(note);
    return all.join(QLatin1Char(' '));
}

} // namespace halftone::widgets
