#include "core/io/pictures/labels.h"
#include "core/io/pictures/preprocess.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;

namespace {

/// A picture whose red is its column, green its row and blue 7.
io::Picture ramp(int width, int height)
{
    io::Picture picture{width, height, {}};
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (const int value : {x, y, 7})
                picture.rgb.push_back(static_cast<std::uint8_t>(value));
        }
    }
    return picture;
}

io::Preprocess rules()
{
    io::Preprocess rules;
    rules.input = "data";
    rules.mean = {0, 0, 0};
    rules.scale = {1, 1, 1};
    return rules;
}

constexpr const char *kGood = R"({"inputs": [{"name": "data", "layout": "NCHW", "color": "BGR",
    "shape": ["N", 3, 224, 224], "mean": [1, 2, 3], "scale": [0.5], "note": "short side 256, centre crop 224"}]})";

} // namespace

class TestPreprocess : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string written(const QByteArray &content, const QString &name = QStringLiteral("file.json")) const
    {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("cannot write");
        return file.fileName().toStdString();
    }

    static QByteArray recorded(const QString &name)
    {
        QFile file(QStringLiteral(HALFTONE_TEST_DATA "/pictures/") + name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private Q_SLOTS:
    void whatIsWrittenIsReadAgain()
    {
        io::Preprocess first = rules();
        first.mean = {123.68, 116.779, 103.939};
        first.scale = {0.0171, 0.0175, 0.0174};
        first.width = 320;
        first.height = 240;
        first.shortSide = 256;
        io::Preprocess second;
        second.input = "image";
        second.color = io::Preprocess::Color::Gray;
        second.channelsLast = true;
        second.batch = 1;
        second.mean = {0};
        second.scale = {1};
        const std::string path = m_folder.filePath(QStringLiteral("written.json")).toStdString();
        for (const io::Preprocess &one : {first, second}) {
            QVERIFY(io::writePreprocess(one, path).ok());
            const auto read = io::readPreprocess(path);
            QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
            QVERIFY(read.value() == one);
        }
    }

    void rulesAreReadAsTheRecordedFilesWriteThem()
    {
        const auto read = io::readPreprocess(written(kGood));
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        const io::Preprocess &rules = read.value();
        QCOMPARE(rules.input, std::string("data"));
        QCOMPARE(rules.color, io::Preprocess::Color::Bgr);
        QCOMPARE(rules.shortSide, std::optional<std::int64_t>(256));
        QCOMPARE(rules.height, std::optional<std::int64_t>(224));
        QVERIFY(!rules.batch);
        QCOMPARE(rules.mean, (std::vector<double>{1, 2, 3}));
        QCOMPARE(rules.scale, (std::vector<double>{0.5, 0.5, 0.5}));
    }

    void malformedRulesNameTheField_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char *name, const QByteArray &content, const QString &expected) {
            QTest::newRow(name) << content << expected;
        };
        row("empty", "", "JSON");
        row("cut", QByteArray(kGood).chopped(9), "JSON");
        row("list", "[]", "inputs");
        row("deep", QByteArray(100000, '['), "JSON");
        row("no picture", R"({"inputs": [{"name": "x"}]})", "color");
        row("two pictures", R"({"inputs": [{"color": "RGB"}, {"color": "RGB"}]})", "more than one");
        row("name", QByteArray(kGood).replace("\"data\"", "7"), "inputs.name");
        row("color", QByteArray(kGood).replace("BGR", "CMYK"), "inputs.color");
        row("mean", QByteArray(kGood).replace("[1, 2, 3]", "[1, 2]"), "inputs.mean");
        row("mean text", QByteArray(kGood).replace("[1, 2, 3]", "[1, 2, \"3\"]"), "inputs.mean");
        row("channels", QByteArray(kGood).replace("\"N\", 3", "\"N\", 4"), "inputs.shape");
        row("huge", QByteArray(kGood).replace("224, 224", "1e30, 224"), "inputs.shape");
        row("negative", QByteArray(kGood).replace("224, 224", "-1, 224"), "inputs.shape");
        row("short side", QByteArray(kGood).replace("side 256", "side 99999999999"), "short_side");
    }
    void malformedRulesNameTheField()
    {
        QFETCH(QByteArray, content);
        QFETCH(QString, expected);
        const auto read = io::readPreprocess(written(content));
        QVERIFY(!read.ok());
        const QString message = QString::fromStdString(read.error().message());
        QVERIFY2(message.contains(expected), qPrintable(message));
        QVERIFY(!message.contains('\n'));
    }

    void valuesAreCroppedOrderedAndScaled()
    {
        io::Preprocess bgr = rules();
        bgr.color = io::Preprocess::Color::Bgr;
        bgr.height = 2;
        bgr.width = 2;
        bgr.shortSide = 4; // as it is
        bgr.mean = {7, 1, 2};
        bgr.scale = {1, 10, 100};
        const auto tensor = io::preprocessed(ramp(6, 4), bgr).value();
        QCOMPARE(tensor.shape(), (tensor::Shape{1, 3, 2, 2}));
        // Columns 2 and 3 of rows 1 and 2.
        QCOMPARE(tensor.values<float>(), (std::vector<float>{0, 0, 0, 0, 0, 0, 10, 10, 0, 100, 0, 100}));
        bgr.channelsLast = true;
        QCOMPARE(io::preprocessed(ramp(6, 4), bgr).value().shape(), (tensor::Shape{1, 2, 2, 3}));
    }

    void resizingKeepsARamp()
    {
        io::Preprocess half = rules();
        half.shortSide = 20;
        const auto tensor = io::preprocessed(ramp(80, 40), half).value();
        QCOMPARE(tensor.shape(), (tensor::Shape{1, 3, 20, 40}));
        // Half the size: each pixel is the middle of two, x = 2 i + 0.5; away from the edges, to the rounding of bytes.
        const auto values = tensor.values<float>();
        for (std::size_t i = 2; i < 38; ++i)
            QVERIFY(std::abs(values[i] - (2 * static_cast<float>(i) + 0.5F)) <= 0.5F);
    }

    void brokenPicturesAreErrors_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("text") << QByteArray("no picture");
        QTest::newRow("head of a jpeg") << QByteArray::fromHex("ffd8ffe000104a46494600010100000100010000");
        QTest::newRow("huge png") << QByteArray::fromHex(
            "89504e470d0a1a0a0000000d49484452000f4240000f42400802000000deadbeef");
        QTest::newRow("huge bmp") << QByteArray::fromHex(
            "424d36000000000000003600000028000000ffffff7fffffff7f01001800000000000000000000000000000000000000"
            "00000000");
    }
    void brokenPicturesAreErrors()
    {
        QFETCH(QByteArray, content);
        const auto read = io::readPicture(written(content, QStringLiteral("picture.jpg")));
        QVERIFY(!read.ok());
        QVERIFY(read.error().message().find('\n') == std::string::npos);
    }

    void jpegsAreDecodedAsByTheToolsThatTrain_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"baseline420", "progressive444", "grey", "cmyk"})
            QTest::newRow(name) << QString(name);
    }
    /// The bytes beside each picture are what Pillow 13 makes of it.
    void jpegsAreDecodedAsByTheToolsThatTrain()
    {
        QFETCH(QString, name);
        const QByteArray expected = recorded(name + ".rgb");
        const auto read = io::readPicture(written(recorded(name + ".jpg"), QStringLiteral("picture.jpg")));
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        QCOMPARE(read.value().width, 37);
        QCOMPARE(read.value().height, 29);
        const std::vector<std::uint8_t> &rgb = read.value().rgb;
        QCOMPARE(static_cast<qsizetype>(rgb.size()), expected.size());
        for (std::size_t i = 0; i < rgb.size(); ++i)
            QCOMPARE(int{rgb[i]}, int{static_cast<std::uint8_t>(expected[static_cast<qsizetype>(i)])});
    }

    void damagedJpegsAreErrorsOrPictures()
    {
        for (const char *name : {"baseline420.jpg", "progressive444.jpg", "cmyk.jpg"}) {
            const QByteArray whole = recorded(QString(name));
            for (qsizetype length = 0; length + 2 < whole.size(); length += 3)
                QVERIFY2(!io::readPicture(written(whole.left(length), QStringLiteral("cut.jpg"))).ok(),
                         qPrintable(QString::number(length)));
            for (qsizetype at = 0; at < whole.size(); ++at) {
                QByteArray damaged = whole;
                damaged[at] = static_cast<char>(~damaged[at]);
                const auto read = io::readPicture(written(damaged, QStringLiteral("damaged.jpg")));
                if (read.ok())
                    QCOMPARE(read.value().rgb.size(),
                             static_cast<std::size_t>(read.value().width)
                                 * static_cast<std::size_t>(read.value().height) * 3);
            }
        }
    }

    /// Each further scan costs some ten bytes and a pass over all pixels.
    void endlessScansAreRefused()
    {
        const QByteArray whole = recorded(QStringLiteral("progressive444.jpg"));
        const qsizetype first = whole.indexOf(QByteArray::fromHex("ffda"));
        const qsizetype tables = whole.lastIndexOf(QByteArray::fromHex("ffc4"), first);
        const qsizetype second = whole.indexOf(QByteArray::fromHex("ffc4"), first);
        QVERIFY(tables > 0 && first > tables && second > first);
        QByteArray endless = whole.left(second);
        for (int scan = 0; scan < 500; ++scan)
            endless += whole.mid(first, second - first);
        endless += QByteArray::fromHex("ffd9");
        const auto read = io::readPicture(written(endless, QStringLiteral("endless.jpg")));
        QVERIFY(!read.ok());
        QVERIFY2(read.error().message().find("scans") != std::string::npos, read.error().message().c_str());
    }

    void labelsComeFromColumnsByName()
    {
        const auto read = io::readLabels(written(
            "name,class_index,file\n\"a, \"\"b\"\"\",3,x.jpg\r\nc,0,y.jpg\n", QStringLiteral("labels.csv")));
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
        QCOMPARE(read.value().files, (std::vector<std::string>{"x.jpg", "y.jpg"}));
        QCOMPARE(read.value().classes, (std::vector<std::int64_t>{3, 0}));
        for (const char *bad :
             {"", "file\nx\n", "file,class_index\nx\n", "file,class_index\nx,two\n",
              "file,class_index\n\"x,2\n", "file,class_index\nx,-1\n", "file,class_index\n"})
            QVERIFY(!io::readLabels(written(bad, QStringLiteral("labels.csv"))).ok());
    }
};

QTEST_GUILESS_MAIN(TestPreprocess)
#include "tst_preprocess.moc"
