#include "core/backends/backends.h"
#include "core/backends/onednn/loops/linear_codes.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace halftone;
using backends::onednn::linearCodeLoop;
using kernels::Operation;
using tensor::DType;
using tensor::Shape;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytesOf(const std::vector<float> &values, DType type)
{
    Bytes bytes(values.size() * tensor::sizeOf(type));
    tensor::narrow(values.data(), values.size(), type, bytes.data());
    return bytes;
}

/// Whole and half steps of a scale, of which the latter are ties, what lies beside them, and what is no number or too large.
std::vector<float> hardValues(std::size_t count, float scale)
{
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> values{0.0F,  -0.0F,  inf,         -inf,        std::nanf(""),
                              1e30F, -1e30F, 128 * scale, -129 * scale};
    std::mt19937 random(7);
    while (values.size() < count) {
        const float tie = static_cast<float>(static_cast<int>(random() % 600) - 300) * 0.5F * scale;
        values.push_back(tie);
        values.push_back(std::nextafter(tie, inf));
        values.push_back(std::nextafter(tie, -inf));
    }
    values.resize(count);
    return values;
}

Bytes outputOf(kernels::Kernel &kernel, const Operation &operation, const std::vector<Bytes> &inputs)
{
    Bytes output(static_cast<std::size_t>(*operation.outputs[0].shape.elementCount())
                 * tensor::sizeOf(operation.outputs[0].dtype));
    std::vector<const std::byte *> from;
    for (const Bytes &input : inputs)
        from.push_back(input.data());
    std::vector<std::byte *> to{output.data()};
    if (!kernel.run(from, to).ok())
        qFatal("refused");
    return output;
}

/// By the reference kernels in float32.
Bytes wanted(const Operation &operation, const std::vector<Bytes> &inputs)
{
    const auto chain = backends::backendChain("reference", 1);
    return outputOf(*chain.value().front()->prepare(operation).value(), operation, inputs);
}

/// The shape of scales: one for axis < 0.
Shape scalesOf(const Shape &shape, std::int64_t axis, std::int64_t block)
{
    if (axis < 0)
        return Shape::ofRank(0);
    const auto at = static_cast<std::size_t>(axis);
    if (block == 0)
        return Shape{shape[at]};
    std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims[at] = (dims[at] + block - 1) / block;
    return Shape(std::move(dims));
}

} // namespace

/// The loops that comparisons of int8 networks spend their time in give the definition's codes to the bit.
class TestLinearCodes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void codesAreThoseOfTheDefinition_data()
    {
        QTest::addColumn<int>("codes");
        QTest::addColumn<int>("real");
        QTest::addColumn<std::int64_t>("axis"); // -9: one scale
        QTest::addColumn<std::int64_t>("block"); // 0: none
        QTest::addColumn<bool>("hasZeroPoint");
        for (const DType codes : {DType::I8, DType::U8})
            for (const DType real : {DType::F32, DType::F16, DType::BF16})
                for (const std::int64_t axis : {-9, 0, 1, 2})
                    for (const std::int64_t block : {0, 2})
                        for (const bool hasZeroPoint : {false, true}) {
                            if (axis < 0 && block > 0)
                                continue;
                            const std::string name = std::string(tensor::nameOf(codes)) + ' '
                                + std::string(tensor::nameOf(real)) + " axis " + std::to_string(axis)
                                + (block > 0 ? " blocks" : "") + (hasZeroPoint ? " zero point" : "");
                            QTest::newRow(name.c_str()) << static_cast<int>(codes) << static_cast<int>(real)
                                                        << axis << block << hasZeroPoint;
                        }
    }
    void codesAreThoseOfTheDefinition()
    {
        QFETCH(const int, codes);
        QFETCH(const int, real);
        QFETCH(const std::int64_t, axis);
        QFETCH(const std::int64_t, block);
        QFETCH(const bool, hasZeroPoint);
        const Shape shape{3, 5, 1001};
        const Shape scales = scalesOf(shape, axis, block);
        const auto count = static_cast<std::size_t>(*scales.elementCount());
        std::vector<float> scale(count);
        std::vector<float> zero(count);
        for (std::size_t k = 0; k < count; ++k) {
            scale[k] = 0.03125F * static_cast<float>(k % 3 + 1) / 3;
            zero[k]
                = static_cast<float>(static_cast<DType>(codes) == DType::I8 ? static_cast<int>(k % 21) - 10
                                                                            : static_cast<int>(k % 200));
        }
        const auto realType = static_cast<DType>(real);
        const auto codeType = static_cast<DType>(codes);
        Operation encode{
            ops::QuantizeLinear{.axis = axis < 0 ? 1 : axis, .block = block, .hasZeroPoint = hasZeroPoint},
            "tested",
            {{realType, shape}, {DType::F32, scales}},
            {{codeType, shape}}};
        std::vector<Bytes> inputs{bytesOf(hardValues(3 * 5 * 1001, scale[0]), realType),
                                  bytesOf(scale, DType::F32)};
        if (hasZeroPoint) {
            encode.inputs.push_back({codeType, scales});
            inputs.push_back(bytesOf(zero, codeType));
        }
        const auto loop = linearCodeLoop(encode, 2);
        QVERIFY(loop);
        const Bytes got = outputOf(*loop, encode, inputs);
        QVERIFY(got == wanted(encode, inputs));

        Operation decode{
            ops::DequantizeLinear{.axis = axis < 0 ? 1 : axis, .block = block, .hasZeroPoint = hasZeroPoint},
            "tested",
            {{codeType, shape}, {DType::F32, scales}},
            {{realType, shape}}};
        inputs[0] = got;
        if (hasZeroPoint)
            decode.inputs.push_back({codeType, scales});
        const auto back = linearCodeLoop(decode, 2);
        QVERIFY(back);
        QVERIFY(outputOf(*back, decode, inputs) == wanted(decode, inputs));
    }

    void biasesAreDecoded()
    {
        const Operation decode{ops::DequantizeLinear{.axis = 0},
                               "tested",
                               {{DType::I32, Shape{3}}, {DType::F32, Shape{3}}},
                               {{DType::F32, Shape{3}}}};
        const std::vector<Bytes> inputs{bytesOf({1000000, -7, 0}, DType::I32),
                                        bytesOf({0.5F, 0.25F, 1}, DType::F32)};
        const auto loop = linearCodeLoop(decode, 1);
        QVERIFY(loop);
        QVERIFY(outputOf(*loop, decode, inputs) == bytesOf({500000, -1.75F, 0}, DType::F32));
    }

    void codesOfFewBitsAreDecoded_data()
    {
        QTest::addColumn<int>("codes");
        QTest::addColumn<std::int64_t>("axis");
        QTest::addColumn<std::int64_t>("block");
        for (const DType codes : {DType::I4, DType::U4, DType::I2, DType::U2})
            for (const std::int64_t axis : {0, 1})
                for (const std::int64_t block : {0, 3})
                    QTest::addRow("%s axis %d block %d", tensor::nameOf(codes).data(), static_cast<int>(axis),
                                  static_cast<int>(block))
                        << static_cast<int>(codes) << axis << block;
    }
    void codesOfFewBitsAreDecoded()
    {
        QFETCH(const int, codes);
        QFETCH(const std::int64_t, axis);
        QFETCH(const std::int64_t, block);
        const auto type = static_cast<DType>(codes);
        const Shape shape{7, 5000};
        const Shape scales = scalesOf(shape, axis, block);
        std::vector<float> scale(static_cast<std::size_t>(*scales.elementCount()));
        std::vector<float> zero(scale.size());
        for (std::size_t k = 0; k < scale.size(); ++k) {
            scale[k] = 0.1F * static_cast<float>(k % 7 + 1);
            zero[k] = static_cast<float>(k % 16); // whose low bits are kept
        }
        std::vector<float> values(7 * 5000);
        std::iota(values.begin(), values.end(), 0.0F);
        const Operation decode{ops::DequantizeLinear{.axis = axis, .block = block, .hasZeroPoint = true},
                               "tested",
                               {{type, shape}, {DType::F32, scales}, {type, scales}},
                               {{DType::F32, shape}}};
        const std::vector<Bytes> inputs{bytesOf(values, type), bytesOf(scale, DType::F32),
                                        bytesOf(zero, type)};
        const auto loop = linearCodeLoop(decode, 2);
        QVERIFY(loop);
        QVERIFY(outputOf(*loop, decode, inputs) == wanted(decode, inputs));
    }

    void othersAreLeftToTheReference()
    {
        const auto encode = [](DType codes, std::int64_t block, Shape scales) {
            return Operation{ops::QuantizeLinear{.axis = 0, .block = block},
                             "tested",
                             {{DType::F32, Shape{4, 2}}, {DType::F32, std::move(scales)}},
                             {{codes, Shape{4, 2}}}};
        };
        QVERIFY(linearCodeLoop(encode(DType::I8, 0, Shape{4}), 1));
        QVERIFY(!linearCodeLoop(encode(DType::I16, 0, Shape{4}), 1));
        QVERIFY(!linearCodeLoop(encode(DType::I4, 0, Shape{4}), 1));
        QVERIFY(!linearCodeLoop(encode(DType::I8, 2, Shape{2, 3}), 1));
        QVERIFY(!linearCodeLoop(encode(DType::I8, 0, Shape{3}), 1)); // which it refuses
    }
};

QTEST_APPLESS_MAIN(TestLinearCodes)
#include "tst_linear_codes.moc"
