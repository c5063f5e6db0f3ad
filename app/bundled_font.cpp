#include "app/bundled_font.h"

#include "app/settings.h"

#include <QApplication>
#include <QFontDatabase>

namespace halftone::app {

QString addFontWhereNoneIs()
{
    if (!QFontDatabase::families().isEmpty())
        return {};
    const QString file = resourcePath(QStringLiteral("fonts/DejaVuSans.ttf"));
    const QStringList families = QFontDatabase::applicationFontFamilies(
        file.isEmpty() ? -1 : QFontDatabase::addApplicationFont(file));
    if (families.isEmpty())
        return {};
    QFont font = QApplication::font();
    font.setFamily(families.front());
    QApplication::setFont(font);
    return families.front();
}

} // namespace halftone::app
