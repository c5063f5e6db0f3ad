#include "core/io/arrays/npz.h"
#include "core/tensor/convert.h"

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

using namespace halftone;
using io::NamedTensor;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const std::string kData = HALFTONE_TEST_DATA "/npz/"; // written by NumPy

std::vector<double> valuesOf(const Tensor &tensor)
{
    return tensor::castTo(tensor, DType::F64).value().values<double>();
}

std::vector<double> countedTo(std::size_t count)
{
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

std::string npy(const std::string &header, const std::string &values, char major = 1)
{
    std::string text = std::string("\x93NUMPY") + major + '\0' + static_cast<char>(header.size()) + '\0';
    return text + (major > 1 ? std::string(2, '\0') : "") + header + values;
}

Result<Tensor> readNpy(const std::string &image)
{
    const auto owner = std::make_shared<const std::string>(image);
    return io::readNpy(std::as_bytes(std::span(*owner)), owner);
}

} // namespace

class TestNpz : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::string path(const char *name) const
    {
        return m_folder.filePath(QString::fromUtf8(name)).toStdString();
    }

private Q_SLOTS:
    void everyNumberTypeOfNumpyIsRead()
    {
        const auto arrays = io::readNpz(kData + "types.npz");
        QVERIFY(arrays.ok());
        QCOMPARE(arrays.value().size(), std::size_t{12});
        for (const NamedTensor &array : arrays.value()) {
            QCOMPARE(array.name,
                     std::string(nameOf(array.tensor.dtype()))); // each array is called by its type
            QCOMPARE(array.tensor.shape(), (Shape{2, 3}));
            const bool isBool = array.tensor.dtype() == DType::Bool;
            QCOMPARE(valuesOf(array.tensor), (isBool ? std::vector<double>{0, 1, 1, 1, 1, 1} : countedTo(6)));
        }
    }

    void anyByteAndElementOrderComesOutRowMajor()
    {
        const auto arrays = io::readNpz(kData + "orders.npz").value();
        const auto named = [&](const std::string &name) {
            return std::ranges::find(arrays, name, &NamedTensor::name)->tensor;
        };
        QCOMPARE(named("fortran").shape(), (Shape{2, 3, 4}));
        QCOMPARE(valuesOf(named("fortran")), countedTo(24));
        QCOMPARE(valuesOf(named("big")), countedTo(6));
        QCOMPARE(valuesOf(named("both")), countedTo(6));
        QCOMPARE(valuesOf(named("row")), countedTo(3));
        QCOMPARE(named("scalar").shape(), Shape(std::vector<std::int64_t>()));
        QCOMPARE(valuesOf(named("scalar")), std::vector<double>{2.5});
        QCOMPARE(named("empty").shape(), (Shape{0, 3}));
    }

    void bfloat16TravelsAsUint16UnderItsSuffix()
    {
        const auto arrays = io::readNpz(kData + "bf16.npz").value();
        QCOMPARE(arrays[0].name, std::string("x"));
        QVERIFY(arrays[0].tensor.dtype() == DType::BF16);
        QCOMPARE(valuesOf(arrays[0].tensor), (std::vector<double>{1, -2.5}));
    }

    void typesOfFewBitsTravelOneValueAByte()
    {
        const auto bytes = [](DType type, std::initializer_list<unsigned char> elements) {
            std::vector<std::byte> values;
            for (const unsigned char element : elements)
                values.push_back(std::byte{element});
            const Shape shape{static_cast<std::int64_t>(values.size())};
            return Tensor::owning(type, shape, std::move(values));
        };
        const std::vector<NamedTensor> written{{"a", bytes(DType::I4, {0xFF, 7, 0xF8})},
                                               {"b", bytes(DType::U4, {15, 0})},
                                               {"c", bytes(DType::F4E2M1, {15, 7})},
                                               {"d", bytes(DType::I2, {1, 0xFE})},
                                               {"e", bytes(DType::U2, {3})}};
        QVERIFY(io::writeNpz(written, path("few.npz")).ok());
        const auto arrays = io::readNpz(path("few.npz"));
        QVERIFY2(arrays.ok(), arrays.ok() ? "" : arrays.error().message().c_str());
        for (std::size_t k = 0; k < written.size(); ++k) {
            QCOMPARE(arrays.value()[k].name, written[k].name);
            QVERIFY(arrays.value()[k].tensor.dtype() == written[k].tensor.dtype());
            QVERIFY(std::ranges::equal(arrays.value()[k].tensor.bytes(), written[k].tensor.bytes()));
        }
        const auto bits
            = io::readNpz(kData + "few_bits.npz"); // -1, 7 and -8 as ml_dtypes has them: 15, 7 and 8
        QVERIFY2(bits.ok(), bits.ok() ? "" : bits.error().message().c_str());
        QCOMPARE(bits.value()[0].name, std::string("x"));
        QVERIFY(bits.value()[0].tensor.dtype() == DType::I4);
        QVERIFY(std::ranges::equal(bits.value()[0].tensor.bytes(), written[0].tensor.bytes()));
        QVERIFY(bits.value()[1].tensor.dtype() == DType::F4E2M1);
        const auto wide = io::readNpz(kData + "few_bits_wide.npz"); // 16
        QVERIFY(!wide.ok());
        QVERIFY(wide.error().message().find("x:int4: the byte 16, expected one int4 value per byte")
                != std::string::npos);
    }

    void aSingleArrayHasNoName()
    {
        const auto arrays = io::readNpz(kData + "single.npy").value();
        QCOMPARE(arrays.size(), std::size_t{1});
        QCOMPARE(arrays[0].name, std::string());
        QCOMPARE(valuesOf(arrays[0].tensor), countedTo(6));
    }

    void whatIsWrittenIsReadAgain()
    {
        std::vector<NamedTensor> arrays = io::readNpz(kData + "types.npz").value();
        for (const char *more : {"orders.npz", "bf16.npz"}) {
            const auto others = io::readNpz(kData + more).value();
            arrays.insert(arrays.end(), others.begin(), others.end());
        }
        QVERIFY(io::writeNpz(arrays, path("all.npz")).ok());
        const auto again = io::readNpz(path("all.npz"));
        QVERIFY(again.ok());
        QCOMPARE(again.value().size(), arrays.size());
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            QCOMPARE(again.value()[i].name, arrays[i].name);
            QVERIFY(again.value()[i].tensor.dtype() == arrays[i].tensor.dtype());
            QCOMPARE(again.value()[i].tensor.shape(), arrays[i].tensor.shape());
            QVERIFY(std::ranges::equal(again.value()[i].tensor.bytes(), arrays[i].tensor.bytes()));
        }
    }

    void textsAndObjectsAreRefusedByTheirEntry()
    {
        const auto text = io::readNpz(kData + "text.npz");
        QVERIFY(!text.ok());
        QVERIFY(text.error().message().starts_with(
            kData + "text.npz: s.npy, byte 10: elements of type \"<U2\", expected numbers or bool"));
        QVERIFY(io::readNpz(kData + "object.npz").error().message().find("elements of type \"|O\"")
                != std::string::npos);
    }

    void brokenHeadersAndSizesAreRefused_data()
    {
        QTest::addColumn<std::string>("image");
        QTest::addColumn<std::string>("expected");
        const auto row = [](const char *name, const std::string &image, const char *expected) {
            QTest::newRow(name) << image << std::string(expected);
        };
        const std::string four(4, '\0');
        row("empty", "", "the file ends in the magic text");
        row("magic", "NUMPY\x01", "not an .npy array");
        row("version", npy("{}", "", 9), "version 9.0, expected 1 to 3");
        row("header short", npy("{}", "").substr(0, 11), "the file ends in the header");
        row("no dictionary", npy("x", ""), "an invalid header");
        row("missing key", npy("{'descr': '<f4', 'shape': (1,)}", four), "an invalid header");
        row("code", npy("{'descr': '<f4', 'fortran_order': False, 'shape': __import__('os')}", four),
            "an invalid header");
        row("record", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four),
            "an invalid header");
        row("negative", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", four),
            "an invalid header");
        row("too many values", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four + "x"),
            "5 bytes of values, expected 4");
        row("too few", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", four),
            "4 bytes of values, expected 8");
        row("wraps", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", four),
            "expected fewer values");
        row("huge", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}", four),
            "expected fewer values");
        row("33 dimensions",
            npy(
                "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                    [] {
                        std::string ones;
                        for (int i = 0; i < 33; ++i)
                            ones += "1,";
                        return ones;
                    }()
                    + ")}",
                four),
            "an invalid header");
        row("complex", npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", four + four),
            "elements of type \"<c8\"");
    }

    void brokenHeadersAndSizesAreRefused()
    {
        QFETCH(std::string, image);
        QFETCH(std::string, expected);
        const auto tensor = readNpy(image);
        QVERIFY(!tensor.ok());
        QVERIFY2(tensor.error().message().find(expected) != std::string::npos,
                 tensor.error().message().c_str());
    }

    void everyTruncationOfAnArchiveIsAnError()
    {
        std::ifstream in(kData + "bf16.npz", std::ios::binary);
        const std::string whole{std::istreambuf_iterator<char>(in), {}};
        for (std::size_t length = 0; length < whole.size(); length += 3) {
            std::ofstream(path("cut.npz"), std::ios::binary) << whole.substr(0, length);
            const auto arrays = io::readNpz(path("cut.npz"));
            QVERIFY2(!arrays.ok(), qPrintable(QString::number(length)));
            QCOMPARE(arrays.error().file, path("cut.npz"));
        }
    }

    void aFlippedBitIsRefusedOrChangesNothing_data()
    {
        QTest::addColumn<std::string>("file");
        QTest::addColumn<int>("refused"); // at least; the others lie in dates, versions and attributes
        QTest::newRow("stored") << std::string("stored.npz") << 5000;
        QTest::newRow("deflated") << std::string("deflated.npz") << 4000;
    }

    void aFlippedBitIsRefusedOrChangesNothing()
    {
        QFETCH(std::string, file);
        QFETCH(int, refused);
        std::ifstream in(kData + file, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        const std::vector<NamedTensor> arrays = io::readNpz(kData + file).value();
        QCOMPARE(arrays.size(), std::size_t{3});
        std::ofstream(path("flipped.npz"), std::ios::binary) << bytes;
        std::fstream flipped(path("flipped.npz"), std::ios::binary | std::ios::in | std::ios::out);
        const auto put = [&flipped](std::size_t at, char byte) {
            flipped.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
        };
        int found = 0;
        for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
            const char byte = bytes[bit / 8];
            put(bit / 8, static_cast<char>(byte ^ (1 << bit % 8)));
            const auto outcome = io::readNpz(path("flipped.npz"));
            put(bit / 8, byte);
            found += outcome.ok() ? 0 : 1;
            if (!outcome.ok())
                continue;
            const bool isSame = std::ranges::equal(
                outcome.value(), arrays, [](const NamedTensor &one, const NamedTensor &other) {
                    return one.name == other.name && one.tensor.dtype() == other.tensor.dtype()
                        && one.tensor.shape() == other.tensor.shape()
                        && std::ranges::equal(one.tensor.bytes(), other.tensor.bytes());
                });
            QVERIFY2(isSame, qPrintable("bit " + QString::number(bit)));
        }
        QVERIFY2(found >= refused, qPrintable(QString::number(found)));
    }

    void oneNameTwiceIsRefused()
    {
        const Tensor one = Tensor::owning(DType::I8, {1}, std::vector<std::byte>(1));
        const Tensor two = Tensor::owning(DType::BF16, {1}, std::vector<std::byte>(2));
        QVERIFY(
            io::writeNpz(std::vector{NamedTensor{"a", one}, NamedTensor{"a", two}}, path("twice.npz")).ok());
        const auto arrays = io::readNpz(path("twice.npz"));
        QVERIFY(!arrays.ok());
        QVERIFY(arrays.error().message().ends_with("a: two arrays have this name"));
    }

    void anEntryThatClaimsMoreThanDeflateCanPackIsRefused()
    {
        // The size field of the only entry in the central directory, and in its local header, says 1 GiB.
        std::ifstream in(kData + "bf16.npz", std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(in), {}};
        const std::size_t central = bytes.find("PK\x01\x02");
        QVERIFY(central != std::string::npos);
        bytes.replace(central + 24, 4, std::string("\0\0\0\x40", 4));
        bytes.replace(22, 4, std::string("\0\0\0\x40", 4));
        std::ofstream(path("bomb.npz"), std::ios::binary) << bytes;
        const auto arrays = io::readNpz(path("bomb.npz"));
        QVERIFY(!arrays.ok());
        QVERIFY2(arrays.error().message().find("expected a plausible size") != std::string::npos,
                 arrays.error().message().c_str());
    }
};

QTEST_APPLESS_MAIN(TestNpz)
#include "tst_npz.moc"
