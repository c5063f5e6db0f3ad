#include "core/dialect/registry.h"

#include <QTest>

#include <vector>

using namespace halftone;
using tensor::Shape;

namespace {

tensor::Tensor zeros(const Shape &shape)
{
    const auto count = static_cast<std::size_t>(shape.elementCount().value_or(0));
    return tensor::Tensor::owning(tensor::DType::F32, shape, std::vector<std::byte>(count * sizeof(float)));
}

/// What is read of a node of the written operator with inputs of these shapes.
Result<ops::Operator> writtenAndRead(const ops::Operator &op, const std::vector<Shape> &shapes)
{
    const dialect::Dialect &onnx = *dialect::dialectNamed("onnx");
    HALFTONE_TRY(const dialect::OperatorText text, onnx.write(op));
    std::vector<tensor::Tensor> inputs;
    for (const Shape &shape : shapes)
        inputs.push_back(zeros(shape));
    return onnx.readWith(*onnx.makeOperatorNode(text, "node", static_cast<std::uint32_t>(inputs.size())),
                         inputs);
}

} // namespace

/// Operators that a machine is measured with come back from ONNX as they were written.
class TestOnnxWrite : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void convolutions()
    {
        ops::Conv conv;
        conv.kernel = {3, 5};
        conv.stride = {2, 1};
        conv.dilate = {1, 2};
        conv.pad.begin = {1, 4};
        conv.pad.end = {0, 4};
        conv.groups = 2;
        conv.outputChannels = 6;
        conv.hasBias = false;
        QCOMPARE(writtenAndRead(conv, {Shape{1, 4, 8, 8}, Shape{6, 2, 3, 5}}).value(), ops::Operator(conv));
        conv.hasBias = true;
        QCOMPARE(writtenAndRead(conv, {Shape{1, 4, 8, 8}, Shape{6, 2, 3, 5}, Shape{6}}).value(),
                 ops::Operator(conv));
        conv.layout = ops::Layout::ChannelsLast;
        QCOMPARE(writtenAndRead(conv, {}).error().code, Errc::Unsupported);
    }

    void fullyConnectedLayers()
    {
        QCOMPARE(writtenAndRead(ops::FullyConnected{3, false, false}, {Shape{2, 4}, Shape{3, 4}}).value(),
                 ops::Operator(ops::FullyConnected{3, false, false}));
    }

    void sumsAndProducts()
    {
        for (const ops::BinaryKind kind : {ops::BinaryKind::Add, ops::BinaryKind::Mul}) {
            const auto read = writtenAndRead(ops::Binary{kind, true}, {Shape{2, 4}, Shape{2, 4}});
            QCOMPARE(read.value(), ops::Operator(ops::Binary{kind, true}));
        }
        QCOMPARE(writtenAndRead(ops::Unary{ops::UnaryKind::Exp}, {}).error().code, Errc::Unsupported);
    }
};

QTEST_APPLESS_MAIN(TestOnnxWrite)
#include "tst_onnx_write.moc"
