#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/plan.h"
#include "core/backends/reference/reference_backend.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/latency/typed_model.h"
#include "core/plan/simplify.h"
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
    void codesOfFloat8AreMultiplied_data();
    void codesOfFloat8AreMultiplied();
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
                 latency::typedModel(loaded.model, {{"x", recordedAt(pathOf(name) + ".npz").input.shape()}},
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
    const bool multiplies = name == "products" || (name.endsWith("int8") && !name.startsWith("averages"));
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

namespace {

/// Takes products of float8 as cuBLASLt's table of types says: one of them e4m3, the depth fastest in both and a multiple of 16, into
/// a wider float, with a bias of 16 bits at most behind it.
Result<void> takesFloat8(const backends::cuda::ProductDesc &desc)
{
    const auto isFloat8 = [](DType type) { return type == DType::F8E4M3FN || type == DType::F8E5M2; };
    const bool areCodes = isFloat8(desc.a.dtype) && isFloat8(desc.b.dtype)
        && (desc.a.dtype == DType::F8E4M3FN || desc.b.dtype == DType::F8E4M3FN);
    const bool isBare = !desc.residual && desc.activation == backends::cuda::Activation::None;
    const bool isResult = tensor::isHalf(desc.c.dtype) || (desc.c.dtype == DType::F32 && !desc.hasBias);
    const bool runs = desc.a.strides[1] == 1 && desc.b.strides[0] == 1 && desc.a.dims[1] % 16 == 0
        && desc.b.dims[1] % 16 == 0;
    return areCodes && isBare && isResult && runs ? Result<void>()
                                                  : Result<void>(unsupported("product", "no codes"));
}

/// A model that computes through float8: QuantizeLinear, DequantizeLinear, a product with a weight that is decoded, a bias, ReLU.
struct Float8Case
{
    const char *name;
    DType data;
    DType weight;
    DType real;
    int arch;
    bool isLayer; ///< FullyConnected with its bias, else MatMul with a sum behind
    bool readsDecoded; ///< the decoded data is an output, too
    bool multiplies; ///< a product of codes is expected
    std::size_t kernels;
};
constexpr DType kE4 = DType::F8E4M3FN;
constexpr DType kE5 = DType::F8E5M2;
/// Kernels of our own make the codes and what no library does behind the sums; without codes the weight is decoded beforehand, and
/// data to codes and back is one kernel.
constexpr Float8Case kFloat8Cases[] = {
    {"product in float32", kE4, kE4, DType::F32, 90, false, false, true, 3},
    {"product in float16", kE4, kE4, DType::F16, 90, false, false, true, 3},
    {"product in bfloat16", kE5, kE4, DType::BF16, 89, false, false, true, 3},
    {"layer in float32", kE4, kE5, DType::F32, 100, true, false, true, 3},
    {"layer in float16", kE4, kE4, DType::F16, 90, true, false, true, 3},
    {"decoded data read again", kE4, kE4, DType::F32, 90, false, true, true, 4},
    {"both e5m2", kE5, kE5, DType::F32, 90, false, false, false, 2},
    {"a chip without float8", kE4, kE4, DType::F32, 86, false, false, false, 2},
};

constexpr std::int64_t kRows = 5;
constexpr std::int64_t kDepth = 64;
constexpr std::int64_t kColumns = 16;

double drawn(std::size_t k, std::size_t seed)
{
    return static_cast<double>((k * 37 + seed * 11) % 101) / 50.0 - 1.0;
}

/// Numbers as a type holds them, and the bytes of these.
struct Held
{
    std::vector<double> values;
    Tensor tensor;
};

Held held(DType type, const tensor::Shape &shape, double scale, std::size_t seed)
{
    Held made;
    made.values.resize(static_cast<std::size_t>(*shape.elementCount()));
    for (std::size_t k = 0; k < made.values.size(); ++k)
        made.values[k] = scale * drawn(k, seed);
    std::vector<std::byte> bytes(made.values.size() * tensor::sizeOf(type));
    tensor::narrow(made.values.data(), made.values.size(), type, bytes.data());
    tensor::widen(type, bytes.data(), made.values.size(), made.values.data());
    made.tensor = Tensor::owning(type, shape, std::move(bytes));
    return made;
}

class Float8Network
{
public:
    explicit Float8Network(const Float8Case &form)
        : m_form(form)
        , m_weight(held(form.weight,
                        form.isLayer ? tensor::Shape{kColumns, kDepth} : tensor::Shape{kDepth, kColumns}, 3,
                        1))
        , m_bias(held(form.real, {kColumns}, 1, 2))
        , m_dataScale(held(form.real, {1}, -0.05, 0)) // drawn(0, 0) is -1
        , m_weightScale(held(form.real, {1}, -0.02, 0))
    {
    }

    plan::PlanGraph graph() const
    {
        plan::PlanGraph g;
        const auto constant = [&g](const Tensor &tensor) {
            const plan::ValueId id = g.addValue({tensor.dtype(), tensor.shape()}, "constant");
            g.values[id].constant = tensor;
            return id;
        };
        const auto value = [&g](DType type, const tensor::Shape &shape) {
            return g.addValue({type, shape}, "value");
        };
        const auto node = [&g](ops::Operator op, const char *name, std::vector<plan::ValueId> inputs,
                               plan::ValueId output) {
            g.nodes.push_back({std::move(op), name, {name}, std::move(inputs), {output}, {}});
            return output;
        };
        const DType real = m_form.real;
        const tensor::Shape rows{kRows, kDepth};
        const tensor::Shape results{kRows, kColumns};
        const auto zero = [&](DType type) { return constant(held(type, {1}, 0, 0).tensor); };
        const plan::ValueId x = value(real, rows);
        const plan::ValueId scale = constant(m_dataScale.tensor);
        const plan::ValueId codes = node(ops::QuantizeLinear{.axis = 1, .hasZeroPoint = true}, "codes",
                                         {x, scale, zero(m_form.data)}, value(m_form.data, rows));
        const plan::ValueId back = node(ops::DequantizeLinear{.axis = 1, .hasZeroPoint = true}, "decoded",
                                        {codes, scale, zero(m_form.data)}, value(real, rows));
        const plan::ValueId weight
            = node(ops::DequantizeLinear{.axis = 1, .hasZeroPoint = true}, "weight",
                   {constant(m_weight.tensor), constant(m_weightScale.tensor), zero(m_form.weight)},
                   value(real, m_weight.tensor.shape()));
        const plan::ValueId bias = constant(m_bias.tensor);
        plan::ValueId sum = value(real, results);
        if (m_form.isLayer) {
            ops::FullyConnected layer;
            layer.units = kColumns;
            layer.hasBias = true;
            node(layer, "layer", {back, weight, bias}, sum);
        } else {
            const plan::ValueId bare = node(ops::MatMul{ops::MatMul::Form::Stretched}, "product",
                                            {back, weight}, value(real, results));
            node(ops::Binary{ops::BinaryKind::Add, true}, "sum", {bare, bias}, sum);
        }
        const plan::ValueId y
            = node(ops::Activation{ops::UnaryKind::Relu}, "relu", {sum}, value(real, results));
        g.inputs = {x};
        g.outputs = {y};
        g.outputNames = {"y"};
        if (m_form.readsDecoded) {
            g.outputs.push_back(back);
            g.outputNames.emplace_back("decoded");
        }
        return g;
    }

    Held input() const { return held(m_form.real, {kRows, kDepth}, 4, 3); }

    /// What the data's codes stand for.
    std::vector<double> decoded() const
    {
        std::vector<double> values = input().values;
        const double scale = m_dataScale.values[0];
        for (double &value : values) {
            std::byte code{};
            value /= scale;
            tensor::narrow(&value, 1, m_form.data, &code);
            tensor::widen(m_form.data, &code, 1, &value);
            value *= scale;
        }
        return values;
    }

    /// By the operators' definitions.
    std::vector<double> output() const
    {
        const std::vector<double> data = decoded();
        std::vector<double> result;
        for (std::int64_t row = 0; row < kRows; ++row)
            for (std::int64_t column = 0; column < kColumns; ++column) {
                double sum = m_bias.values[static_cast<std::size_t>(column)];
                for (std::int64_t k = 0; k < kDepth; ++k)
                    sum += data[static_cast<std::size_t>(row * kDepth + k)] * m_weightScale.values[0]
                        * m_weight.values[static_cast<std::size_t>(m_form.isLayer ? column * kDepth + k
                                                                                  : k * kColumns + column)];
                result.push_back(std::max(sum, 0.0));
            }
        return result;
    }

private:
    Float8Case m_form;
    Held m_weight;
    Held m_bias;
    Held m_dataScale;
    Held m_weightScale;
};

/// The largest distance of a plan's output, against the largest value.
double distanceOf(const kernels::LatencyPlan &plan, std::size_t k, const std::vector<double> &expected)
{
    std::vector<double> got(expected.size());
    tensor::widen(plan.outputs()[k].desc.dtype, plan.output(k).data(), got.size(), got.data());
    double distance = 0;
    double largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        distance = std::max(distance, std::abs(got[i] - expected[i]));
        largest = std::max(largest, std::abs(expected[i]));
    }
    return distance / largest;
}

} // namespace

void CudaCodesTest::codesOfFloat8AreMultiplied_data()
{
    QTest::addColumn<int>("form");
    for (int k = 0; k < static_cast<int>(std::size(kFloat8Cases)); ++k)
        QTest::newRow(kFloat8Cases[k].name) << k;
}

/// Where chip and library have it, the product is one of codes by the library: nothing is decoded before it.
void CudaCodesTest::codesOfFloat8AreMultiplied()
{
    QFETCH(int, form);
    const Float8Case &given = kFloat8Cases[form];
    const Float8Network network(given);
    plan::PlanGraph graph = network.graph();
    kernels::PlanCache cache;
    cache.beginPlan();
    const auto reference = backends::reference::referenceBackend({1, false});
    QVERIFY(plan::simplify(graph, reference.get(), cache, {.foldsFloat16 = true}).ok());
    const auto gpu = std::make_shared<test::LibraryGpu>(takesFloat8, given.arch);
    const auto plan = backends::cuda::makePlan(std::move(graph), gpu, {}, nullptr);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    const Held input = network.input();
    std::memcpy(plan.value()->input(0).data(), input.tensor.bytes().data(), input.tensor.bytes().size());
    const auto done = plan.value()->run();
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    QString told;
    std::size_t products = 0;
    for (const kernels::PlanStep &step : plan.value()->steps()) {
        told += QString::fromStdString(step.op + " by " + step.kernel + " in "
                                       + std::string(tensor::nameOf(step.dtype)) + "\n");
        if (step.kernel != "library product")
            continue;
        ++products;
        QCOMPARE(step.dtype, given.data);
        QCOMPARE(step.nodes.front(), std::string("decoded")); // who decodes is told there
    }
    QVERIFY2(products == (given.multiplies ? 1U : 0U), qPrintable(told));
    QVERIFY2(plan.value()->launches()->planned == given.kernels, qPrintable(told));
    // Sums of 64 in float32; in 16 bits the result is rounded once, and what was decoded beforehand once more.
    const double tolerance = given.real == DType::F32 ? 1e-5 : given.real == DType::F16 ? 2e-3 : 1.6e-2;
    QVERIFY2(distanceOf(*plan.value(), 0, network.output()) <= tolerance,
             qPrintable(QString::number(distanceOf(*plan.value(), 0, network.output())) + '\n' + told));
    if (given.readsDecoded)
        QVERIFY(distanceOf(*plan.value(), 1, network.decoded()) <= 1e-6);
}

QTEST_GUILESS_MAIN(CudaCodesTest)
#include "tst_cuda_codes.moc"
