#include "core/backends/cuda/backend.h"
#include "core/backends/reference/reference_backend.h"
#include "tests/core/backends/cuda/host_gpu.h"
#include "tests/core/backends/cuda/operator_cases.h"

#include <QDir>
#include <QTest>

#include <cmath>

using namespace halftone;
using tensor::DType;
using test::difference;
using test::inType;
using test::mxnetCase;
using test::mxnetPaths;
using test::onnxCase;
using test::onnxPaths;
using test::run;

/// Kernels that the CUDA backend writes, compiled for this machine (host_gpu.h), over the operator cases of both formats: values
/// are those of the recordings.
class CudaValuesTest : public QObject
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
    void mostOperatorsHaveKernels();
};

namespace {

std::shared_ptr<test::HostGpu> gpu()
{
    static const auto device = std::make_shared<test::HostGpu>();
    return device;
}

kernels::BackendChain chain()
{
    static const auto cuda = backends::cuda::cudaBackend(gpu());
    static const auto reference = backends::reference::referenceBackend({1, false});
    return {cuda, reference};
}

/// Makes another backend's kernels and leaves their work to the next one.
class WritesOnly final : public kernels::Backend
{
public:
    explicit WritesOnly(std::shared_ptr<const kernels::Backend> writer)
        : m_writer(std::move(writer))
    {
    }
    std::string_view name() const override { return "written only"; }
    kernels::Support support(DType) const override { return kernels::Support::No; }
    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        (void)m_writer->prepare(operation);
        return unsupported({}, "written only");
    }

private:
    std::shared_ptr<const kernels::Backend> m_writer;
};

} // namespace

/// Has the kernels of all cases written, while the reference computes: they are compiled in one go then.
void CudaValuesTest::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
    const kernels::BackendChain written{std::make_shared<WritesOnly>(chain()[0]), chain()[1]};
    for (const QString &path : onnxPaths())
        if (const auto found = onnxCase(path); found.ok())
            (void)run(found.value().model, found.value().feed, written);
    for (const QString &path : mxnetPaths()) {
        const auto found = mxnetCase(path);
        if (!found.ok())
            continue;
        for (const DType type : {DType::F32, DType::F16, DType::BF16})
            (void)run(found.value().model, inType(found.value().feed, type), written);
    }
}

void CudaValuesTest::operatorsOfOnnx_data()
{
    QTest::addColumn<QString>("path");
    for (const QString &path : onnxPaths())
        QTest::newRow(qPrintable(QDir(path).dirName())) << path;
}

void CudaValuesTest::operatorsOfOnnx()
{
    QFETCH(QString, path);
    const auto found = onnxCase(path);
    QVERIFY2(found.ok(), found.ok() ? "" : found.error().message().c_str());
    const auto got = run(found.value().model, found.value().feed, chain());
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
    QCOMPARE(got.value().size(), found.value().expected.size());
    for (std::size_t i = 0; i < got.value().size(); ++i) {
        const QString wrong = difference(got.value()[i], found.value().expected[i], 2e-5, 2e-5);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
}

void CudaValuesTest::operatorsOfMxnet_data()
{
    QTest::addColumn<QString>("path");
    for (const QString &path : mxnetPaths())
        QTest::newRow(qPrintable(QDir(path).dirName())) << path;
}

void CudaValuesTest::operatorsOfMxnet()
{
    QFETCH(QString, path);
    const auto found = mxnetCase(path);
    QVERIFY2(found.ok(), found.ok() ? "" : found.error().message().c_str());
    const auto got = run(found.value().model, found.value().feed, chain());
    QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
    QCOMPARE(got.value().size(), found.value().expected.size());
    for (std::size_t i = 0; i < got.value().size(); ++i) { // sums of a few hundred products, in another order
        const QString wrong = difference(got.value()[i], found.value().expected[i], 2e-4, 2e-5);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
}

/// Against the reference kernels, which round the exact result once.
void CudaValuesTest::halfTypesRoundOnce()
{
    QFETCH(QString, path);
    const auto found = mxnetCase(path);
    QVERIFY(found.ok());
    const kernels::BackendChain reference{backends::reference::referenceBackend({1, false})};
    for (const DType type : {DType::F16, DType::BF16}) {
        const interpret::Feed feed = inType(found.value().feed, type);
        const auto want = run(found.value().model, feed, reference);
        const auto got = run(found.value().model, feed, chain());
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

void CudaValuesTest::mostOperatorsHaveKernels()
{
    QVERIFY2(gpu()->texts().size() > 350, qPrintable(QString::number(gpu()->texts().size())));
}

QTEST_GUILESS_MAIN(CudaValuesTest)
#include "tst_cuda_values.moc"
