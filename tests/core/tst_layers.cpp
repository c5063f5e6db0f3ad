#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

namespace {

// The design's table of rooms: an include may only point into its own room or one before it. The panels
// ("widgets/*") share one place.
const QStringList kRooms
    = QStringLiteral("core/base core/tensor core/graph core/ops core/dialect core/io core/policy core/passes "
                     "core/runtime core/calibration core/profile core/layout core/report core/search "
                     "core/session widgets/common widgets/models widgets/* app")
          .split(' ');

/// The rooms that may see a library's headers, by how such an include begins.
struct VendorRule
{
    const char *header;
    const char *rooms;
};
constexpr VendorRule kVendors[] = {
    {"nlohmann/", "core/dialect core/io core/policy core/report core/session app"},
    {"zip.h", "core/io core/tensor"},
    {"stb_image.h", "core/io"},
    {"jpeglib.h", "core/io"},
    {"jerror.h", "core/io"},
    {"CLI/", "app"},
    {"oneapi/dnnl/", "core/runtime"},
    {"qcustomplot", "widgets/plots app"},
};

/// "core/graph/node.h" -> "core/graph", "app/main.cpp" -> "app".
QString roomOf(const QString &path)
{
    return path.section('/', 0, path.startsWith("app/") ? 0 : 1);
}

qsizetype placeOf(const QString &room)
{
    const auto place = kRooms.indexOf(room);
    return place < 0 && room.startsWith("widgets/") ? kRooms.indexOf("widgets/*") : place;
}

/// What is wrong with `file` including `header`, or nothing.
QString offence(const QString &file, const QString &header)
{
    const QString room = roomOf(file);
    if (placeOf(room) < 0)
        return QStringLiteral("%1 is no room").arg(room);
    if (header.startsWith('Q') && (room.startsWith("core/") || file.startsWith("app/cli_")))
        return QStringLiteral("Qt has no place in %1").arg(room);
    for (const VendorRule &vendor : kVendors)
        if (header.startsWith(vendor.header) && !QString(vendor.rooms).split(' ').contains(room))
            return QStringLiteral("only %1 may see %2").arg(vendor.rooms, vendor.header);
    if (!header.contains('/')
        || !QStringList({"core", "widgets", "app", "tests"}).contains(header.section('/', 0, 0)))
        return {};
    const QString other = roomOf(header);
    if (placeOf(other) < 0 || placeOf(other) > placeOf(room))
        return QStringLiteral("%1 stands above %2").arg(other, room);
    if (placeOf(other) == placeOf(room) && other != room)
        return QStringLiteral("panels don't include each other");
    return {};
}

QStringList offencesIn(const QString &root, const QString &file)
{
    static const QRegularExpression include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    QFile source(root + '/' + file);
    if (!source.open(QIODevice::ReadOnly))
        return {QStringLiteral("%1: cannot be read").arg(file)};
    QStringList found;
    for (int line = 1; !source.atEnd(); ++line) {
        const auto match = include.match(QString::fromUtf8(source.readLine()));
        const QString why = match.hasMatch() ? offence(file, match.captured(1)) : QString();
        if (!why.isEmpty())
            found << QStringLiteral("%1:%2: %3: %4").arg(file).arg(line).arg(match.captured(1), why);
    }
    return found;
}

} // namespace

class LayersTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyIncludePointsToAnEarlierRoom();
    void aBrokenOrderIsNoticed_data();
    void aBrokenOrderIsNoticed();
};

void LayersTest::everyIncludePointsToAnEarlierRoom()
{
    const QString root = QStringLiteral(HALFTONE_SOURCE_DIR);
    QStringList found;
    int files = 0;
    for (const char *top : {"core", "widgets", "app"}) {
        QDirIterator walk(root + '/' + top, {"*.h", "*.cpp", "*.cu"}, QDir::Files,
                          QDirIterator::Subdirectories);
        for (; walk.hasNext(); ++files)
            found += offencesIn(root, QDir(root).relativeFilePath(walk.next()));
    }
    QVERIFY2(files > 20, "the sources were not found");
    QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
}

void LayersTest::aBrokenOrderIsNoticed_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("header");
    QTest::addColumn<bool>("allowed");

    QTest::newRow("downwards") << "core/passes/a.cpp"
                               << "core/graph/graph.h" << true;
    QTest::newRow("own room") << "core/graph/a.cpp"
                              << "core/graph/graph.h" << true;
    QTest::newRow("standard library") << "core/base/a.h"
                                      << "vector" << true;
    QTest::newRow("upwards") << "core/graph/a.cpp"
                             << "core/passes/pass.h" << false;
    QTest::newRow("core sees app") << "core/session/a.cpp"
                                   << "app/settings.h" << false;
    QTest::newRow("core sees tests") << "core/session/a.cpp"
                                     << "tests/support/text.h" << false;
    QTest::newRow("unknown room") << "core/misc/a.cpp"
                                  << "core/base/text.h" << false;
    QTest::newRow("Qt in core") << "core/session/a.cpp"
                                << "QString" << false;
    QTest::newRow("Qt in the command line") << "app/cli_main.cpp"
                                            << "QtCore/QString" << false;
    QTest::newRow("Qt in the window") << "app/main.cpp"
                                      << "QApplication" << true;
    QTest::newRow("JSON where files are read") << "core/io/a.cpp"
                                               << "nlohmann/json.hpp" << true;
    QTest::newRow("JSON in the graph") << "core/graph/a.h"
                                       << "nlohmann/json.hpp" << false;
    QTest::newRow("zip in policy") << "core/policy/a.cpp"
                                   << "zip.h" << false;
    QTest::newRow("panel sees panel") << "widgets/tables/a.cpp"
                                      << "widgets/plots/plot.h" << false;
    QTest::newRow("panel sees models") << "widgets/tables/a.cpp"
                                       << "widgets/models/rows.h" << true;
}

void LayersTest::aBrokenOrderIsNoticed()
{
    QFETCH(QString, file);
    QFETCH(QString, header);
    QFETCH(bool, allowed);
    QCOMPARE(offence(file, header).isEmpty(), allowed);
}

QTEST_GUILESS_MAIN(LayersTest)
#include "tst_layers.moc"
