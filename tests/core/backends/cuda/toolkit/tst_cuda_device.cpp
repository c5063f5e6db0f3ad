#include "core/backends/cuda/backend.h"
#include "core/backends/reference/reference_backend.h"
#include "tests/core/backends/cuda/operator_cases.h"

#include <QTest>

#include <cmath>

using namespace halftone;
using tensor::DType;
using test::difference;
using test::inType;

/// The GPU of this machine over the operator cases of both formats, as the table of backends gives it: skipped, and shown so, where there
/// is none. Everything before the driver is tested without one (tst_cuda_values, tst_cuda_toolkit).
class CudaDeviceTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void operatorsOfOnnx_data();
    void operatorsOfOnnx();
    void operatorsOfMxnet_data();
    void operatorsOfMxnet();
    void halfTypesRoundOnce_data() { operatorsOfMxnet_data(); }
    void halfTypesRoundOnce();

private:
    void compare(const Result<test::Case> &found) const;

    kernels::BackendChain m_chain;
};

void CudaDeviceTest::initTestCase()
{
    const std::vector<backends::BackendEntry> entries = backends::cuda::backendEntries("cuda");
    QVERIFY(!entries.empty());
    if (!entries[0].make)
        QSKIP(entries[0].why.c_str());
    const auto reference = backends::reference::referenceBackend({1, false});
    m_chain = {entries[0].make({1, false, reference}), reference};
}

/// With what was recorded; float32's sums are in another order, as the libraries choose it.
void CudaDeviceTest::compare(const Result<test::Case> &found) const
{
    QVERIFY2(found.ok(), found.ok() ? "" : found.error().message().c_str());
    const auto got = test::run(found.value().model, found.value().feed, m_chain);
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
    QCOMPARE(got.value().size(), found.value().expected.size());
    for (std::size_t i = 0; i < got.value().size(); ++i) {
        const QString wrong = difference(got.value()[i], found.value().expected[i], 2e-4, 2e-5);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
}

void CudaDeviceTest::operatorsOfOnnx_data()
{
    QTest::addColumn<QString>("path");
    for (const QString &path : test::onnxPaths())
        QTest::newRow(qPrintable(QDir(path).dirName())) << path;
}

void CudaDeviceTest::operatorsOfOnnx()
{
    QFETCH(QString, path);
    compare(test::onnxCase(path));
}

void CudaDeviceTest::operatorsOfMxnet_data()
{
    QTest::addColumn<QString>("path");
    for (const QString &path : test::mxnetPaths())
        QTest::newRow(qPrintable(QDir(path).dirName())) << path;
}

void CudaDeviceTest::operatorsOfMxnet()
{
    QFETCH(QString, path);
    compare(test::mxnetCase(path));
}

/// Against the reference kernels, which round the exact result once.
void CudaDeviceTest::halfTypesRoundOnce()
{
    QFETCH(QString, path);
    const auto found = test::mxnetCase(path);
    QVERIFY(found.ok());
    const kernels::BackendChain reference{m_chain.back()};
    for (const DType type : {DType::F16, DType::BF16}) {
        const interpret::Feed feed = inType(found.value().feed, type);
        const auto want = test::run(found.value().model, feed, reference);
        const auto got = test::run(found.value().model, feed, m_chain);
        QCOMPARE(got.ok(), want.ok()); // MXNet's type rules keep some operators in float32
        if (!got.ok())
            continue;
        const double unit = type == DType::F16 ? std::ldexp(1, -11) : std::ldexp(1, -8);
        for (std::size_t i = 0; i < got.value().size(); ++i) {
            const QString wrong = difference(got.value()[i], want.value()[i], 4 * unit, 4 * unit);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }
}

QTEST_GUILESS_MAIN(CudaDeviceTest)
#include "tst_cuda_device.moc"
