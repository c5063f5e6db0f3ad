#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"
#include "tests/support/files.h"
#include "tests/support/tensors.h"

#include <QDir>
#include <QTest>

#include <cmath>

using namespace halftone;
using tensor::DType;
using tensor::Tensor;
using test::converted;
using test::valuesOf;

namespace {

interpret::Feed feedOf(const std::string &npz)
{
    interpret::Feed feed;
    const auto arrays = io::readNpz(npz).value();
    for (const io::NamedTensor &array : arrays)
        feed.emplace(array.name, array.tensor);
    return feed;
}

Result<std::vector<Tensor>> runCase(const std::string &folder, const interpret::Feed &feed,
                                    const kernels::BackendChain &backends)
{
    HALFTONE_TRY(const io::LoadedModel loaded, io::loadModel(folder + "/model-symbol.json", {{}, true}));
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(loaded.model, backends));
    return interpreter.run(feed);
}

kernels::BackendChain reference(bool inDouble)
{
    return {backends::reference::referenceBackend({2, inDouble})};
}

/// What is wrong with `got`, or nothing.
QString difference(const Tensor &got, const Tensor &want, double relative, double absolute)
{
    if (got.shape() != want.shape())
        return QString::fromStdString("shape " + got.shape().toString() + ", expected "
                                      + want.shape().toString());
    const auto g = valuesOf(got);
    const auto w = valuesOf(want);
    for (std::size_t i = 0; i < g.size(); ++i) {
        if (std::isnan(g[i]) != std::isnan(w[i])
            || std::abs(g[i] - w[i]) > absolute + relative * std::abs(w[i]))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g[i]).arg(w[i]);
    }
    return {};
}

/// Operators whose results jump where inputs are near each other, or that take no 16-bit type at all.
bool jumps(const std::string &name)
{
    for (const char *part :
         {"argmax", "topk", "cast_int", "multibox", "one_hot", "amp_multicast", "box_target", "bipartite",
          "psroi", "rroi", "_nan", "beyond", "pool_outside", "/edge_"}) {
        if (name.find(part) != std::string::npos)
            return true;
    }
    return false;
}

} // namespace

class TestReferenceOps : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void mxnetGivesTheSame_data();
    void mxnetGivesTheSame();
    void halfPrecisionIsTheExactResultRoundedOnce_data() { mxnetGivesTheSame_data(); }
    void halfPrecisionIsTheExactResultRoundedOnce();
};

void TestReferenceOps::mxnetGivesTheSame_data()
{
    QTest::addColumn<QString>("folder");
    const std::string root = HALFTONE_TEST_DATA "/ops/";
    const auto names = test::foldersIn(HALFTONE_TEST_DATA "/ops");
    for (const std::string &name : names) {
        if (QFile::exists(QString::fromStdString(root + name + "/expected-fp32.npz")))
            QTest::newRow(name.c_str()) << QString::fromStdString(root + name);
    }
}

void TestReferenceOps::mxnetGivesTheSame()
{
    QFETCH(QString, folder);
    const std::string path = folder.toStdString();
    const interpret::Feed feed = feedOf(path + "/inputs.npz");
    const auto want = io::readNpz(path + "/expected-fp32.npz").value();
    const auto cpu = backends::backendChain("cpu", 2); // without oneDNN the reference alone
    QVERIFY(cpu.ok());
    const bool isOfSingles
        = path.find("_overflow_") != std::string::npos; // what is beyond their end is not beyond doubles'
    for (const kernels::BackendChain &backends : {reference(false), reference(!isOfSingles), cpu.value()}) {
        const auto got = runCase(path, feed, backends);
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
        QCOMPARE(got.value().size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i) {
            QCOMPARE(tensor::nameOf(got.value()[i].dtype()), tensor::nameOf(want[i].tensor.dtype()));
            // MXNet adds up to a few hundred products in float32, in an order of its own.
            const QString wrong = difference(got.value()[i], want[i].tensor, 2e-4, 2e-5);
            QVERIFY2(wrong.isEmpty(), qPrintable(QString::fromStdString(want[i].name) + ": " + wrong));
        }
    }
}

void TestReferenceOps::halfPrecisionIsTheExactResultRoundedOnce()
{
    QFETCH(QString, folder);
    const std::string path = folder.toStdString();
    if (jumps(path))
        QSKIP("its results are positions, types or boxes");
    for (const DType type : {DType::F16, DType::BF16}) {
        interpret::Feed narrow;
        interpret::Feed wide;
        const interpret::Feed given = feedOf(path + "/inputs.npz");
        for (const auto &[name, tensor] : given) {
            const bool stays = tensor.dtype() != DType::F32 || name.find("moving") != std::string::npos;
            narrow[name] = stays ? tensor : converted(tensor, type);
            wide[name] = stays ? tensor : converted(narrow[name], DType::F32);
        }
        const auto got = runCase(path, narrow, reference(false));
        if (!got.ok()) { // MXNet's type rules keep some operators, or their statistics, in float32
            QVERIFY2(got.error().message().find("types") != std::string::npos, got.error().message().c_str());
            continue;
        }
        const auto exact = runCase(path, wide, reference(true));
        QVERIFY(exact.ok());
        // One rounding: half a unit in the last place; chains of a few operators round as often.
        const double unit = type == DType::F16 ? std::ldexp(1, -11) : std::ldexp(1, -8);
        for (std::size_t i = 0; i < got.value().size(); ++i) {
            const QString wrong = difference(got.value()[i], exact.value()[i], 8 * unit, 8 * unit);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }
}

QTEST_GUILESS_MAIN(TestReferenceOps)
#include "tst_reference_ops.moc"
