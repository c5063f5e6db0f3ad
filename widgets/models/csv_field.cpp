#include "widgets/models/csv_field.h"

#include <algorithm>

namespace halftone::widgets {

QString csvField(const QString &text)
{
    static const QString kSpecial = QStringLiteral(",\"\r\n");
    if (std::ranges::none_of(text, [](QChar c) { return kSpecial.contains(c); }))
        return text;
    return QLatin1Char('"') + QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\""))
        + QLatin1Char('"');
}

} // namespace halftone::widgets
