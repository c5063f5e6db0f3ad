#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

// The panels ("widgets/*") share one place.
const QStringList kAbove = QStringLiteral("widgets/common widgets/models widgets/* app").split(' ');

constexpr qsizetype kMostSources = 60; ///< of one folder

/// By room of the core, what it declares to see, in the order of core/rooms.txt.
using Rooms = std::vector<std::pair<QString, QStringList>>;

Rooms readRooms()
{
    Rooms rooms;
    QFile list(QStringLiteral(HALFTONE_SOURCE_DIR "/core/rooms.txt"));
    if (!list.open(QIODevice::ReadOnly))
        return rooms;
    while (!list.atEnd()) {
        const QString line = QString::fromUtf8(list.readLine()).trimmed();
        if (line.startsWith('#') || !line.contains(':'))
            continue;
        QStringList seen;
        for (const QString &room : line.section(':', 1).split(' ', Qt::SkipEmptyParts))
            seen << "core/" + room;
        rooms.emplace_back("core/" + line.section(':', 0, 0), seen);
    }
    return rooms;
}

const Rooms &rooms()
{
    static const Rooms kRead = readRooms();
    return kRead;
}

/// The rooms that may see a library's headers, or ours in front of one, by how such an include begins.
struct VendorRule
{
    const char *header;
    const char *rooms;
};
constexpr VendorRule kVendors[] = {
    {"nlohmann/", "core/base"},
    {"core/base/json.h",
     "core/base core/hardware core/dialect core/io core/policy core/report core/runtimes core/session "
     "core/tune core/results core/api app"},
    {"zip.h", "core/io"},
    {"stb_image.h", "core/io"},
    {"png.h", "core/io tests"},
    {"re2/", "core/policy"},
    {"xxhash.h", "core/base"},
    {"jpeglib.h", "core/io"},
    {"jerror.h", "core/io"},
    {"onnx-ml.pb.h", "core/io"},
    {"tflite_generated.h", "core/io"},
    {"CLI/", "app"},
    {"oneapi/dnnl/", "core/backends"},
    {"cuda.h", "core/backends tests"},
    {"nvrtc.h", "core/backends"},
    {"cublasLt.h", "core/backends"},
    {"cudnn", "core/backends"},
    {"qcustomplot", "widgets/plots app"},
    {"halftone/", "core/api"}, // the public headers, for programs outside
};

/// "core/graph/graph.h" -> "core/graph", "app/main.cpp" -> "app".
QString roomOf(const QString &path)
{
    return path.section('/', 0, path.startsWith("app/") ? 0 : 1);
}

/// Below all of the core, in the order of kAbove; -1 for what is no room.
qsizetype placeOf(const QString &room)
{
    const auto known = std::ranges::find(rooms(), room, &Rooms::value_type::first);
    if (known != rooms().end())
        return known - rooms().begin();
    auto place = kAbove.indexOf(room);
    if (place < 0 && room.startsWith("widgets/"))
        place = kAbove.indexOf("widgets/*");
    return place < 0 ? -1 : static_cast<qsizetype>(rooms().size()) + place;
}

/// What is wrong with `file` including `header`, or nothing.
QString offence(const QString &file, const QString &header)
{
    const QString room = roomOf(file);
    if (placeOf(room) < 0)
        return QStringLiteral("%1 is no room").arg(room);
    if (header.startsWith('Q') && (room.startsWith("core/") || file.startsWith("app/cli/")))
        return QStringLiteral("Qt has no place in %1").arg(room);
    if (file.startsWith("core/api/halftone/") && header.contains('/') && !header.startsWith("halftone/"))
        return QStringLiteral("installed headers see only each other");
    for (const VendorRule &vendor : kVendors)
        if (header.startsWith(vendor.header) && !QString(vendor.rooms).split(' ').contains(room))
            return QStringLiteral("only %1 may see %2").arg(vendor.rooms, vendor.header);
    if (!header.contains('/')
        || !QStringList({"core", "widgets", "app", "tests"}).contains(header.section('/', 0, 0)))
        return {};
    const QString other = roomOf(header);
    if (placeOf(other) < 0 || placeOf(other) > placeOf(room))
        return QStringLiteral("%1 stands above %2").arg(other, room);
    if (other != room && room.startsWith("core/")
        && !rooms()[static_cast<std::size_t>(placeOf(room))].second.contains(other))
        return QStringLiteral("core/rooms.txt does not let %1 see %2").arg(room, other);
    if (placeOf(other) == placeOf(room) && other != room)
        return QStringLiteral("panels don't include each other");
    return {};
}

/// The headers that a source includes, line by line: nothing for other lines, and nothing at all for a file that cannot be read.
QStringList headersByLine(const QString &path)
{
    static const QRegularExpression include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    QFile source(path);
    QStringList headers;
    if (source.open(QIODevice::ReadOnly))
        while (!source.atEnd())
            headers << include.match(QString::fromUtf8(source.readLine())).captured(1);
    return headers;
}

QStringList offencesIn(const QString &root, const QString &file)
{
    const QStringList headers = headersByLine(root + '/' + file);
    QStringList found;
    for (qsizetype line = 0; line < headers.size(); ++line) {
        const QString why = headers[line].isEmpty() ? QString() : offence(file, headers[line]);
        if (!why.isEmpty())
            found << QStringLiteral("%1:%2: %3: %4").arg(file).arg(line + 1).arg(headers[line], why);
    }
    return headers.isEmpty() ? QStringList(QStringLiteral("%1: cannot be read").arg(file)) : found;
}

} // namespace

class LayersTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyRoomStandsBelowThoseItDeclares();
    void noFolderIsCrowded();
    void everyIncludePointsToAnEarlierRoom();
    void everyDeclaredRoomIsIncluded();
    void noOptionOfTheCommandLineIsNamedInTheCore();
    void aBrokenOrderIsNoticed_data();
    void aBrokenOrderIsNoticed();
};

void LayersTest::everyRoomStandsBelowThoseItDeclares()
{
    QVERIFY2(rooms().size() > 10, "core/rooms.txt was not read");
    for (const auto &[room, seen] : rooms()) {
        for (const QString &other : seen)
            QVERIFY2(placeOf(other) >= 0 && placeOf(other) < placeOf(room),
                     qPrintable(room + " and " + other));
        QVERIFY2(QDir(QStringLiteral(HALFTONE_SOURCE_DIR "/") + room).exists(), qPrintable(room));
    }
}

void LayersTest::noFolderIsCrowded()
{
    QDirIterator walk(QStringLiteral(HALFTONE_SOURCE_DIR "/core"), QDir::Dirs | QDir::NoDotAndDotDot,
                      QDirIterator::Subdirectories);
    while (walk.hasNext()) {
        const QDir folder(walk.next());
        QVERIFY2(folder.entryList({"*.h", "*.cpp"}, QDir::Files).size() <= kMostSources,
                 qPrintable(folder.path()));
    }
}

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

void LayersTest::everyDeclaredRoomIsIncluded()
{
    const QString root = QStringLiteral(HALFTONE_SOURCE_DIR);
    for (const auto &[room, declared] : rooms()) {
        QSet<QString> included;
        QDirIterator walk(root + '/' + room, {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        while (walk.hasNext())
            for (const QString &header : headersByLine(walk.next()))
                included << roomOf(header);
        for (const QString &other : declared)
            QVERIFY2(included.contains(other), qPrintable(room + " includes nothing of " + other));
    }
}

/// Settings are told by Field, which every front calls by its own name.
void LayersTest::noOptionOfTheCommandLineIsNamedInTheCore()
{
    static const QRegularExpression option("\"--[a-z][a-z-]*[\" ]");
    QDirIterator walk(QStringLiteral(HALFTONE_SOURCE_DIR "/core"), {"*.h", "*.cpp"}, QDir::Files,
                      QDirIterator::Subdirectories);
    int files = 0;
    for (; walk.hasNext(); ++files) {
        QFile source(walk.next());
        if (source.fileName().endsWith("/foreign_formats.cpp"))
            continue; // names command lines of other programs
        QVERIFY(source.open(QIODevice::ReadOnly));
        const auto match = option.match(QString::fromUtf8(source.readAll()));
        QVERIFY2(!match.hasMatch(), qPrintable(source.fileName()));
    }
    QVERIFY(files > 100);
}

void LayersTest::aBrokenOrderIsNoticed_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("header");
    QTest::addColumn<bool>("allowed");

    QTest::newRow("downwards") << "core/mixed/a.cpp"
                               << "core/graph/graph.h" << true;
    QTest::newRow("own room") << "core/graph/a.cpp"
                              << "core/graph/graph.h" << true;
    QTest::newRow("standard library") << "core/base/a.h"
                                      << "vector" << true;
    QTest::newRow("upwards") << "core/graph/a.cpp"
                             << "core/infer/pass.h" << false;
    QTest::newRow("not declared") << "core/layout/a.cpp"
                                  << "core/io/a.h" << false;
    QTest::newRow("core sees app") << "core/session/a.cpp"
                                   << "app/settings.h" << false;
    QTest::newRow("core sees tests") << "core/session/a.cpp"
                                     << "tests/support/text.h" << false;
    QTest::newRow("unknown room") << "core/misc/a.cpp"
                                  << "core/base/text.h" << false;
    QTest::newRow("Qt in core") << "core/session/a.cpp"
                                << "QString" << false;
    QTest::newRow("Qt in the command line") << "app/cli/main.cpp"
                                            << "QtCore/QString" << false;
    QTest::newRow("Qt in the window") << "app/main.cpp"
                                      << "QApplication" << true;
    QTest::newRow("JSON where files are read") << "core/io/a.cpp"
                                               << "core/base/json.h" << true;
    QTest::newRow("JSON past its own header") << "core/io/a.cpp"
                                              << "nlohmann/json.hpp" << false;
    QTest::newRow("JSON in the graph") << "core/graph/a.h"
                                       << "core/base/json.h" << false;
    QTest::newRow("zip in policy") << "core/policy/a.cpp"
                                   << "zip.h" << false;
    QTest::newRow("installed headers see each other") << "core/api/halftone/a.h"
                                                      << "halftone/b.h" << true;
    QTest::newRow("an installed header sees the core") << "core/api/halftone/a.h"
                                                       << "core/base/text.h" << false;
    QTest::newRow("what lies behind them sees both") << "core/api/a.cpp"
                                                     << "core/session/a.h" << true;
    QTest::newRow("the core sees an installed header") << "core/session/a.cpp"
                                                       << "halftone/a.h" << false;
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
