#include "core/infer/infer_types.h"
#include "core/runtimes/kernel_table.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

using namespace halftone;
using runtimes::KernelAnswer;
using runtimes::KernelTable;
using tensor::DType;

namespace {

/// x, Conv, Relu, Concat with a parameter for the convolution, all in `type`; in opset 22, from which on Conv takes bfloat16.
infer::TypedModel network(const char *type, DType dtype)
{
    test::OnnxBuilder g(22);
    const graph::Entry x = g.input("x", type, "[1,2,4,4]");
    const graph::Entry w = g.input("w", type, "[2,2,1,1]");
    const graph::Entry conv = g.op("Conv", "conv", {}, {x, w});
    const graph::Entry relu = g.op("Relu", "relu", {}, {conv});
    const graph::Entry last = g.op("Concat", "last", {{"axis", "1"}}, {relu, relu});
    infer::TypedModel typed{{g.withHeads({last}), {}, true}, {}, {}, {}, {}};
    tensor::Array weights;
    weights.name = "w";
    typed.model.parameters.push_back(weights);
    const auto types = infer::inferTypes(typed.model.graph, std::vector{dtype, dtype});
    if (!types.ok())
        qFatal("types of the network");
    typed.types = types.value();
    return typed;
}

KernelTable smallTable()
{
    using Kind = KernelAnswer::Kind;
    KernelTable table;
    table.title = "Toy";
    table.version = "1";
    const KernelAnswer wide{Kind::Otherwise, DType::F32};
    table.kernels["Conv"][DType::F16] = {{0, wide}};
    table.kernels["Relu"][DType::F16] = {{6, wide}, {14, {Kind::Native, DType::F16}}}; // as in opset 22
    table.kernels["Conv"][DType::BF16] = {{0, {Kind::Refused, DType::Unknown}}};
    return table;
}

} // namespace

/// What is known of runtimes before they run.
class KernelTableTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theTablesAreRead()
    {
        const KernelTable *const ort = runtimes::kernelTableOf("ort:CPUExecutionProvider");
        QVERIFY(ort != nullptr && ort == runtimes::kernelTableOf("ort"));
        QVERIFY(!ort->version.empty() && ort->opset >= 20);
        const KernelAnswer conv = ort->answer("Conv", 11, DType::F16);
        QCOMPARE(conv.kind, KernelAnswer::Kind::Otherwise);
        QCOMPARE(conv.type, DType::F32);
        QCOMPARE(ort->answer("Conv", 22, DType::BF16).kind, KernelAnswer::Kind::Refused);
        QCOMPARE(ort->answer("Conv", 11, DType::F32).kind, KernelAnswer::Kind::Native);
        QCOMPARE(ort->answer("NoSuchOperator", 11, DType::F32).kind, KernelAnswer::Kind::Unknown);
        QVERIFY(!runtimes::kernelTableOf("openvino")->takesChannelCodes);
        QVERIFY(runtimes::kernelTableOf("tensorrt")->isDocumented);
        QVERIFY(runtimes::kernelTableOf("tensorrt")->isSymmetric);
        QVERIFY(runtimes::kernelTableOf("ort:CUDAExecutionProvider") == nullptr);
        QVERIFY(runtimes::kernelTableOf("cpu") == nullptr);
    }

    void answersBeginAtVersions()
    {
        const KernelTable table = smallTable();
        QCOMPARE(table.answer("Relu", 13, DType::F16).kind, KernelAnswer::Kind::Otherwise);
        QCOMPARE(table.answer("Relu", 14, DType::F16).kind, KernelAnswer::Kind::Native);
        QCOMPARE(table.answer("Relu", 1, DType::F16).kind, KernelAnswer::Kind::Otherwise);
    }

    /// Of the data, and of what the convolution gives: its weights are cast once and for all.
    void castsAreCountedAroundWhatIsWidened()
    {
        const auto texts = runtimes::missingTexts(smallTable(), network("float16", DType::F16));
        QCOMPARE(
            texts,
            std::vector<std::string>{
                "Toy 1 has no float16 kernel for Conv: it will run in float32, with 2 casts in each run and "
                "1 cast when the model is loaded"});
    }

    void aRefusalIsForetold()
    {
        const auto texts = runtimes::missingTexts(smallTable(), network("bfloat16", DType::BF16));
        QCOMPARE(texts,
                 std::vector<std::string>{"Toy 1 has no bfloat16 kernel for Conv: it will refuse the model"});
    }

    void float32NeedsNoWords()
    {
        const auto texts
            = runtimes::missingTexts(*runtimes::kernelTableOf("ort"), network("float32", DType::F32));
        QVERIFY(texts.empty());
    }
};

QTEST_GUILESS_MAIN(KernelTableTest)
#include "tst_kernel_table.moc"
