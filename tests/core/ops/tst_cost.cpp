#include "core/ops/cost.h"
#include "core/ops/numerics.h"

#include <QTest>

using namespace halftone;
using namespace halftone::ops;
using tensor::Shape;

namespace {

std::optional<Cost> fp32Cost(const Operator &op, const std::vector<Shape> &inputs, const Shape &output)
{
    const std::vector<std::size_t> inputSizes(inputs.size(), 4);
    const std::size_t outputSize = 4;
    return cost(op, inputs, std::span(&output, 1), inputSizes, std::span(&outputSize, 1));
}

} // namespace

/// Expected counts are multiplied out by hand from the definitions.
class TestCost : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void convolutionCountsTwoAMultiplyAdd()
    {
        const Conv op{.kernel = {3, 3}, .outputChannels = 8, .hasBias = false};
        const auto result = fp32Cost(op, {Shape{2, 3, 8, 9}, Shape{8, 3, 3, 3}}, Shape{2, 8, 6, 7});
        QVERIFY(result);
        QCOMPARE(result->flops, 2 * 8 * 6 * 7 * 2 * (3 * 3 * 3));
        QCOMPARE(result->bytes, 4 * (2 * 3 * 8 * 9 + 8 * 3 * 3 * 3 + 2 * 8 * 6 * 7));
    }

    void aDepthwiseConvolutionCountsItsOwnChannelOnly()
    {
        const Conv op{.kernel = {3, 3}, .outputChannels = 16, .groups = 16, .hasBias = false};
        const auto result = fp32Cost(op, {Shape{1, 16, 8, 8}, Shape{16, 1, 3, 3}}, Shape{1, 16, 6, 6});
        QCOMPARE(result->flops, 16 * 6 * 6 * 2 * 9);
    }

    void aDeconvolutionSpreadsEachInput()
    {
        const ConvTranspose op{.kernel = {2, 2}, .stride = {2, 2}, .outputChannels = 5};
        const auto result = fp32Cost(op, {Shape{1, 3, 4, 4}, Shape{3, 5, 2, 2}}, Shape{1, 5, 8, 8});
        QCOMPARE(result->flops, 3 * 4 * 4 * 2 * (5 * 2 * 2));
    }

    void productsCountTheSummedAxis()
    {
        QCOMPARE(
            fp32Cost(FullyConnected{.units = 5}, {Shape{4, 7}, Shape{5, 7}, Shape{5}}, Shape{4, 5})->flops,
            4 * 5 * 2 * 7);
        QCOMPARE(fp32Cost(MatMul{}, {Shape{3, 4}, Shape{4, 5}}, Shape{3, 5})->flops, 3 * 5 * 2 * 4);
        const MatMul batched{.form = MatMul::Form::Batched, .transposeA = true};
        QCOMPARE(fp32Cost(batched, {Shape{2, 4, 3}, Shape{2, 4, 5}}, Shape{2, 3, 5})->flops,
                 2 * 3 * 5 * 2 * 4);
        QCOMPARE(fp32Cost(AttentionProduct{.heads = 2}, {Shape{5, 3, 24}}, Shape{6, 5, 5})->flops,
                 6 * 5 * 5 * 2 * 4);
    }

    void movingDataCostsBytesOnly()
    {
        const auto result = fp32Cost(Transpose{}, {Shape{2, 3}}, Shape{3, 2});
        QCOMPARE(result->flops, 0);
        QCOMPARE(result->bytes, 48);
    }

    void nothingIsSaidOfOpenOrHugeShapesAndOpaqueOperators()
    {
        QVERIFY(!fp32Cost(Unary{UnaryKind::Exp}, {Shape{2, -1}}, Shape{2, -1}));
        QVERIFY(!fp32Cost(Unary{UnaryKind::Exp}, {Shape{}}, Shape{}));
        QVERIFY(
            !fp32Cost(Unary{UnaryKind::Exp}, {Shape{std::int64_t{1} << 62}}, Shape{std::int64_t{1} << 62}));
        QVERIFY(!fp32Cost(Opaque{"x"}, {Shape{2}}, Shape{2}));
        QVERIFY(!fp32Cost(Conv{.kernel = {1}, .outputChannels = 0}, {Shape{1, 1, 1}, Shape{1, 1, 1}},
                          Shape{1, 1, 1}));
        QVERIFY(!fp32Cost(Conv{.kernel = {1}, .outputChannels = 1}, {}, Shape{1, 1, 1}));
    }

    void classesTellWhatGoesWrongInANarrowType()
    {
        QVERIFY(numericalClass(Conv{}) == NumericalClass::MatrixProduct);
        QVERIFY(numericalClass(Unary{UnaryKind::Exp}) == NumericalClass::RangeSensitive);
        QVERIFY(numericalClass(Unary{UnaryKind::Relu}) == NumericalClass::ElementwiseSafe);
        QVERIFY(numericalClass(Activation{UnaryKind::Softplus}) == NumericalClass::RangeSensitive);
        QVERIFY(numericalClass(Binary{BinaryKind::Greater}) == NumericalClass::Comparison);
        QVERIFY(numericalClass(Reduce{.kind = Reduce::Kind::Sum}) == NumericalClass::Reduction);
        QVERIFY(numericalClass(Pool{.kind = Pool::Kind::Average}) == NumericalClass::Reduction);
        QVERIFY(numericalClass(Pool{.kind = Pool::Kind::Max}) != NumericalClass::Reduction);
        QVERIFY(numericalClass(BatchNormalization{}) == NumericalClass::Normalisation);
        QVERIFY(numericalClass(Reshape{}) == NumericalClass::DataMovement);
        QVERIFY(numericalClass(BoxNms{}) == NumericalClass::LossOrBox);
        QVERIFY(numericalClass(Opaque{}) == NumericalClass::Unknown);
    }
};

QTEST_APPLESS_MAIN(TestCost)
#include "tst_cost.moc"
