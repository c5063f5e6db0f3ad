#include "core/backends/cuda/backend.h"
#include "core/backends/reference/reference_backend.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/profile/typed_model.h"
#include "core/tensor/elements.h"
#include "tests/core/backends/cuda/host_library.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <map>

using namespace halftone;
using tensor::DType;
using tensor::Tensor;

/// Networks whose values pass through codes of 8 bits, planned for a GPU with and without libraries and run on this machine: values are
/// ONNX Runtime's (tests/support/make_coded_plan_goldens.py).
class CudaCodesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void planGivesOnnxRuntimesValues_data();
    void planGivesOnnxRuntimesValues();
    void float8RoundsAsTheFormatsSay_data();
    void float8RoundsAsTheFormatsSay();
};

namespace {

constexpr const char *kNetworks[]
    = {"uint8", "int8", "products", "operators", "averages_uint8", "averages_int8", "ties"};

struct Recorded
{
    Tensor input;
    std::vector<float> output;
    float step = 0; ///< of the output's codes; 0: it is real; -1: it is to be equal
};

QString pathOf(const QString &name)
{
    return QStringLiteral(HALFTONE_TEST_DATA "/coded_plans/") + name;
}

Recorded recordedAt(const QString &path)
{
    Recorded recorded;
    const auto arrays = io::readNpz(path.toStdString());
    if (!arrays.ok())
        qFatal("%s", arrays.error().message().c_str());
    for (const io::NamedTensor &array : arrays.value()) {
        if (array.name == "in.x")
            recorded.input = array.tensor;
        else if (array.name == "out.y")
            recorded.output = array.tensor.values<float>();
        else
            recorded.step = array.tensor.values<float>()[0];
    }
    return recorded;
}

/// Takes products of codes as cuDNN and cuBLASLt do: into int32 sums, of int8 alone, the depth fastest in both matrices.
Result<void> takesCodes(const backends::cuda::ProductDesc &desc)
{
    const bool isBare
        = !desc.hasBias && !desc.residual && desc.activation == backends::cuda::Activation::None;
    const bool isCode = desc.a.dtype == DType::I8 && desc.b.dtype == DType::I8;
    if (!isCode || desc.c.dtype != DType::I32 || !isBare)
        return unsupported("product", "no codes");
    const bool runs
        = desc.isConvolution || (desc.a.strides.back() == 1 && desc.b.strides[desc.b.dims.size() - 2] == 1);
    return runs ? Result<void>() : Result<void>(unsupported("product", "codes in another order"));
}

std::shared_ptr<test::HostGpu> gpu(bool hasLibraries)
{
    static const auto bare = std::make_shared<test::HostGpu>();
    static const auto full = std::make_shared<test::LibraryGpu>(takesCodes);
    return hasLibraries ? std::static_pointer_cast<test::HostGpu>(full) : bare;
}

using Plan = std::unique_ptr<kernels::LatencyPlan>;

Result<Plan> planOf(const QString &name, bool hasLibraries)
{
    HALFTONE_TRY(const io::LoadedModel loaded, io::loadModel((pathOf(name) + ".onnx").toStdString()));
    HALFTONE_TRY(const infer::TypedModel typed,
                 profile::typedModel(loaded.model, {{"x", recordedAt(pathOf(name) + ".npz").input.shape()}},
                                     policy::Policy()));
    return backends::cuda::cudaBackend(gpu(hasLibraries), {},
                                       backends::reference::referenceBackend({1, false}))
        ->plan(typed, {});
}

std::map<QString, Result<Plan>> &plans()
{
    static std::map<QString, Result<Plan>> made;
    return made;
}

QString keyOf(const QString &name, bool hasLibraries)
{
    return name + (hasLibraries ? ", libraries" : ", own kernels");
}

} // namespace

/// All are planned before the first runs, so that their kernels are compiled at once.
void CudaCodesTest::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
    for (const char *name : kNetworks)
        for (const bool hasLibraries : {false, true})
            plans().emplace(keyOf(name, hasLibraries), planOf(name, hasLibraries));
}

void CudaCodesTest::planGivesOnnxRuntimesValues_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("hasLibraries");
    for (const char *name : kNetworks)
        for (const bool hasLibraries : {false, true})
            QTest::newRow(qPrintable(keyOf(name, hasLibraries))) << QString(name) << hasLibraries;
}

void CudaCodesTest::planGivesOnnxRuntimesValues()
{
    QFETCH(QString, name);
    QFETCH(bool, hasLibraries);
    const Recorded recorded = recordedAt(pathOf(name) + ".npz");
    const auto &plan = plans().at(keyOf(name, hasLibraries));
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    std::memcpy(plan.value()->input(0).data(), recorded.input.bytes().data(), plan.value()->input(0).size());
    const auto done = plan.value()->run();
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    const auto bytes = plan.value()->output(0);
    std::vector<float> output(bytes.size() / sizeof(float));
    std::memcpy(output.data(), bytes.data(), bytes.size());
    QCOMPARE(output.size(), recorded.output.size());
    // A sum that falls between two codes may become either, and what is computed with that differs as much.
    std::size_t others = 0;
    double most = 0;
    for (const float value : recorded.output)
        most = std::max(most, std::abs(double{value}));
    for (std::size_t k = 0; k < output.size(); ++k) {
        const double distance = std::abs(double{output[k]} - double{recorded.output[k]});
        const double allowed = recorded.step > 0 ? 1.01 * double{recorded.step}
            : recorded.step < 0                  ? 0
                                                 : 0.01 * most;
        QVERIFY2(distance <= allowed,
                 qPrintable(QStringLiteral("element %1 is %2, expected %3")
                                .arg(k)
                                .arg(output[k])
                                .arg(recorded.output[k])));
        others += distance > 1e-5 * most ? 1 : 0;
    }
    if (recorded.step > 0)
        QVERIFY2(others * 50 <= output.size(), qPrintable(QString::number(others)));
    QString told;
    bool hasProduct = false;
    for (const kernels::PlanStep &step : plan.value()->steps()) {
        told += QString::fromStdString(step.op + " by " + step.kernel + "\n");
        hasProduct = hasProduct || step.kernel == "library product";
    }
    QVERIFY2(!told.contains("on the cpu"), qPrintable(told));
    const bool multiplies = name.endsWith("int8") && !name.startsWith("averages");
    QVERIFY2(hasProduct == hasLibraries || !multiplies, qPrintable(told));
}

void CudaCodesTest::float8RoundsAsTheFormatsSay_data()
{
    QTest::addColumn<int>("type");
    QTest::newRow("e4m3") << static_cast<int>(DType::F8E4M3FN);
    QTest::newRow("e5m2") << static_cast<int>(DType::F8E5M2);
}

/// Every float16 through a cast there and back, and every code.
void CudaCodesTest::float8RoundsAsTheFormatsSay()
{
    QFETCH(int, type);
    const auto small = static_cast<DType>(type);
    std::vector<std::uint16_t> halves(65536);
    for (std::size_t k = 0; k < halves.size(); ++k)
        halves[k] = static_cast<std::uint16_t>(k);
    const kernels::Operation cast{ops::Cast{small}, "cast", {{DType::F16, {65536}}}, {{small, {65536}}}};
    const auto backend = backends::cuda::cudaBackend(gpu(false));
    const auto kernel = backend->prepare(cast);
    QVERIFY2(kernel.ok(), kernel.ok() ? "" : kernel.error().message().c_str());
    std::vector<std::byte> codes(65536);
    const std::byte *const in = reinterpret_cast<const std::byte *>(halves.data());
    std::byte *const out = codes.data();
    QVERIFY(kernel.value()->run(std::span(&in, 1), std::span(&out, 1)).ok());
    std::vector<float> values(65536);
    tensor::widen(DType::F16, in, values.size(), values.data());
    std::vector<std::byte> expected(65536);
    tensor::narrow(values.data(), values.size(), small, expected.data());
    std::vector<float> got(65536);
    std::vector<float> want(65536);
    tensor::widen(small, codes.data(), codes.size(), got.data());
    tensor::widen(small, expected.data(), expected.size(), want.data());
    for (std::size_t k = 0; k < got.size(); ++k)
        QVERIFY2(got[k] == want[k] || (std::isnan(got[k]) && std::isnan(want[k])),
                 qPrintable(QString::number(values[k])));
    // The way back: what the kernels read of each code.
    const kernels::Operation wide{ops::Cast{DType::F32}, "cast", {{small, {65536}}}, {{DType::F32, {65536}}}};
    const auto back = backend->prepare(wide);
    QVERIFY(back.ok());
    const std::byte *const from = codes.data();
    std::byte *const to = reinterpret_cast<std::byte *>(values.data());
    QVERIFY(back.value()->run(std::span(&from, 1), std::span(&to, 1)).ok());
    for (std::size_t k = 0; k < got.size(); ++k)
        QVERIFY2(got[k] == values[k] || (std::isnan(got[k]) && std::isnan(values[k])),
                 qPrintable(QString::number(values[k])));
}

QTEST_GUILESS_MAIN(CudaCodesTest)
#include "tst_cuda_codes.moc"
