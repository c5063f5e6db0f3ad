#include "app/bundled_font.h"

#include "app/settings.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetrics>

namespace halftone::app {
namespace {

bool hasLetters(const QFont &font)
{
    return QFontMetrics(font).inFont(u'a');
}

} // namespace

QString addFontWhereNoneIs()
{
    QFont font = QApplication::font();
    if (hasLetters(font))
        return {};
    // Qt lists these names whether there is a font behind them or not.
    QStringList empty = QFontDatabase::families();
    empty << font.family() << QFontDatabase::systemFont(QFontDatabase::FixedFont).family()
          << QStringLiteral("monospace") << QStringLiteral("sans-serif") << QStringLiteral("serif");
    const QString file = resourcePath(QStringLiteral("fonts/DejaVuSans.ttf"));
    const QStringList added = QFontDatabase::applicationFontFamilies(
        file.isEmpty() ? -1 : QFontDatabase::addApplicationFont(file));
    if (added.isEmpty())
        return {};
    for (const QString &family : empty)
        QFont::insertSubstitution(family, added.front());
    font.setFamilies(added);
    QApplication::setFont(font);
    return added.front();
}

} // namespace halftone::app
