#include "core/backends/cuda/backend.h"
#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"
#include "tests/core/backends/cuda/host_gpu.h"
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

/// A recorded case with a network of one operator or a few.
struct Case
{
    graph::Model model;
    interpret::Feed feed;
    std::vector<Tensor> expected;
};

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

QString difference(const Tensor &got, const Tensor &want, double relative, double absolute)
{
    if (got.shape() != want.shape() || got.dtype() != want.dtype())
        return QString::fromStdString(std::string(tensor::nameOf(got.dtype())) + got.shape().toString()
                                      + ", expected " + std::string(tensor::nameOf(want.dtype()))
                                      + want.shape().toString());
    const auto g = valuesOf(got);
    const auto w = valuesOf(want);
    for (std::size_t i = 0; i < g.size(); ++i)
        if (g[i] != w[i]
            && (std::isnan(g[i]) != std::isnan(w[i])
                || std::abs(g[i] - w[i]) > absolute + relative * std::abs(w[i])))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g[i]).arg(w[i]);
    return {};
}

Result<Case> onnxCase(const QString &path)
{
    HALFTONE_TRY(const auto arrays, io::readNpz((path + ".npz").toStdString()));
    HALFTONE_TRY(const auto loaded, io::loadModel((path + ".onnx").toStdString(), {{}, true}));
    Case found{loaded.model, {}, {}};
    for (const io::NamedTensor &array : arrays) {
        if (array.name.starts_with("in."))
            found.feed.emplace(array.name.substr(3), array.tensor);
        else
            found.expected.push_back(array.tensor);
    }
    return found;
}

Result<Case> mxnetCase(const QString &folder)
{
    const std::string path = folder.toStdString();
    HALFTONE_TRY(const auto loaded, io::loadModel(path + "/model-symbol.json", {{}, true}));
    HALFTONE_TRY(const auto inputs, io::readNpz(path + "/inputs.npz"));
    HALFTONE_TRY(const auto expected, io::readNpz(path + "/expected-fp32.npz"));
    Case found{loaded.model, {}, {}};
    for (const io::NamedTensor &array : inputs)
        found.feed.emplace(array.name, array.tensor);
    for (const io::NamedTensor &array : expected)
        found.expected.push_back(array.tensor);
    return found;
}

interpret::Feed inType(const interpret::Feed &feed, DType type)
{
    interpret::Feed result;
    for (const auto &[name, tensor] : feed) {
        const bool stays = tensor.dtype() != DType::F32 || name.find("moving") != std::string::npos;
        result[name] = stays ? tensor : converted(tensor, type);
    }
    return result;
}

Result<std::vector<Tensor>> run(const graph::Model &model, const interpret::Feed &feed,
                                const kernels::BackendChain &backends)
{
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(model, backends));
    return interpreter.run(feed);
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

QStringList onnxPaths()
{
    QStringList paths;
    const QDir folder(QStringLiteral(HALFTONE_TEST_DATA "/onnx_ops"));
    for (const QString &name : folder.entryList({"*.onnx"}))
        paths.append(folder.filePath(name.chopped(5)));
    return paths;
}

QStringList mxnetPaths()
{
    QStringList paths;
    for (const std::string &name : test::foldersIn(HALFTONE_TEST_DATA "/ops")) {
        const QString path = QStringLiteral(HALFTONE_TEST_DATA "/ops/") + QString::fromStdString(name);
        if (QFile::exists(path + "/expected-fp32.npz"))
            paths.append(path);
    }
    return paths;
}

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
