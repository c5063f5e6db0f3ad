#include "core/quantize/stored_weights.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <cmath>

using namespace halftone;
using quantize::StoredWeights;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// A parameter of so many bytes.
tensor::Array array(const char *name, DType type, Shape shape)
{
    tensor::Array made;
    made.name = name;
    made.shape = shape;
    const auto bytes = static_cast<std::size_t>(*shape.elementCount()) * tensor::sizeOf(type);
    made.values = Tensor::owning(type, std::move(shape), std::vector<std::byte>(bytes));
    return made;
}

} // namespace

/// What a model stores as codes of weights, whoever wrote it.
class TstStoredWeights : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void packedCodesAreCountedAsWeights()
    {
        test::OnnxBuilder g(21);
        const auto x = g.input("x", "float32", "[1,40]");
        const auto codes = g.input("codes", "uint8", "[5,3,8]");
        const auto scales = g.input("scales", "float32", "[15]");
        const auto product
            = g.op("com.microsoft.MatMulNBits", "y",
                   {{"K", "40"}, {"N", "5"}, {"bits", "4"}, {"block_size", "16"}}, {x, codes, scales});
        const graph::Model model{g.withHeads({product}),
                                 {array("codes", DType::U8, {5, 3, 8}), array("scales", DType::F32, {15})},
                                 true};
        const auto found = quantize::storedWeights(model);
        QCOMPARE(found, (std::vector<StoredWeights>{{"int4/16", 4, 16, 200, 120 + 60, 1}}));
        QCOMPARE(*quantize::bitsPerWeight(found), 8.0 * 180 / 200);
    }

    void decodedMatricesAreJoinedByFormatAndBlock()
    {
        test::OnnxBuilder g(21);
        std::vector<graph::Entry> heads;
        const auto decode
            = [&](const char *name, const char *codes, const char *scale, graph::Attributes attributes) {
                  heads.push_back(g.op("DequantizeLinear", name, std::move(attributes),
                                       {g.input(codes, "int8", "[64,4]"), g.input(scale, "float32", "[4]")}));
              };
        decode("a", "ca", "sa", {{"axis", "1"}});
        decode("b", "cb", "sb", {{"axis", "1"}});
        decode("c", "cc", "sc", {{"axis", "0"}, {"block_size", "32"}});
        const graph::Model model{g.withHeads(heads),
                                 {array("ca", DType::I8, {64, 4}), array("sa", DType::F32, {4}),
                                  array("cb", DType::I8, {64, 4}), array("sb", DType::F32, {4}),
                                  array("cc", DType::I8, {64, 4}), array("sc", DType::F32, {2, 4})},
                                 true};
        QCOMPARE(quantize::storedWeights(model),
                 (std::vector<StoredWeights>{{"int8/channel", 8, 0, 512, 512 + 32, 2},
                                             {"int8/32", 8, 32, 256, 256 + 32, 1}}));
    }

    void scalesThatAreCodesBelongToTheirMatrix()
    {
        test::OnnxBuilder g(23);
        const auto scales
            = g.op("DequantizeLinear", "s", {},
                   {g.input("scodes", "float8e4m3fn", "[4,8]"), g.input("factor", "float32", "[]")});
        const auto weights = g.op("DequantizeLinear", "w", {{"axis", "0"}, {"block_size", "16"}},
                                  {g.input("codes", "float4e2m1", "[64,8]"), scales});
        const graph::Model model{g.withHeads({weights}),
                                 {array("scodes", DType::F8E4M3FN, {4, 8}),
                                  array("factor", DType::F32, Shape(std::vector<std::int64_t>{})),
                                  array("codes", DType::F4E2M1, {64, 8})},
                                 true};
        QCOMPARE(quantize::storedWeights(model),
                 (std::vector<StoredWeights>{{"nvfp4", 4, 16, 512, 256 + 32 + 4, 1}}));
    }

    void valuesThatAreComputedAreNoWeights()
    {
        test::OnnxBuilder g(21);
        const auto x = g.input("x", "int8", "[2,3]");
        const auto y = g.op("DequantizeLinear", "y", {}, {x, g.input("scale", "float32", "[]")});
        const graph::Model model{
            g.withHeads({y}), {array("scale", DType::F32, Shape(std::vector<std::int64_t>{}))}, true};
        QVERIFY(quantize::storedWeights(model).empty());
        QVERIFY(!quantize::bitsPerWeight({}));
    }
};

QTEST_APPLESS_MAIN(TstStoredWeights)
#include "tst_stored_weights.moc"
