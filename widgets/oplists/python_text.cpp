#include "widgets/oplists/python_text.h"

#include "widgets/common/formatters.h"

namespace halftone::widgets {

QString pythonText(const QString &text)
{
    QString result = QStringLiteral("'");
    for (const QChar c : text) {
        if (c == QLatin1Char('\'') || c == QLatin1Char('\\'))
            result += QLatin1Char('\\') + QString(c);
        else if (c.unicode() < 0x20 || c.unicode() == 0x7f)
            result += QStringLiteral("\\x%1").arg(static_cast<int>(c.unicode()), 2, 16, QLatin1Char('0'));
        else
            result += c;
    }
    return result + QLatin1Char('\'');
}

QString pythonText(const std::string &text)
{
    return pythonText(exact(text));
}

QString pythonList(const QStringList &items, int indent)
{
    const QString blank(indent, QLatin1Char(' '));
    QString text = QStringLiteral("[");
    qsizetype line = indent + 1;
    for (qsizetype k = 0; k < items.size(); ++k) {
        const QString item = items[k] + (k + 1 < items.size() ? QStringLiteral(",") : QString());
        if (k > 0 && line + item.size() + 1 > 100) {
            text += QStringLiteral("\n") + blank + QLatin1Char(' ');
            line = indent + 1;
        } else if (k > 0) {
            text += QLatin1Char(' ');
            ++line;
        }
        text += item;
        line += item.size();
    }
    return text + QLatin1Char(']');
}

} // namespace halftone::widgets
