#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/quantize/quantize.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

using namespace halftone;
using tensor::DType;

namespace {

/// Rows of a table, times the table turned, as language models with tied embeddings have it. Heads: the product, the rows.
class TiedTable
{
public:
    TiedTable()
    {
        const auto ids = m_builder.input("ids", "int64", "[3]");
        const auto table = m_builder.input("table", "float32", "[4,2]");
        m_rows = m_builder.op("Gather", "rows", {}, {table, ids});
        const auto turned = m_builder.op("Transpose", "turned", {{"perm", "[1,0]"}}, {table});
        m_product = m_builder.op("MatMul", "y", {}, {m_rows, turned});
    }

    graph::Model model()
    {
        return {m_builder.withHeads({m_product, m_rows}),
                {test::OnnxBuilder::floats("table", {4, 2}, m_values)},
                true};
    }

    /// What codes with these scales stand for.
    std::vector<float> decoded(std::span<const float> scales) const
    {
        std::vector<float> values;
        for (std::size_t k = 0; k < m_values.size(); ++k) {
            const float scale = scales[scales.size() == 1 ? 0 : k / 2];
            values.push_back(std::nearbyint(m_values[k] / scale) * scale);
        }
        return values;
    }

private:
    test::OnnxBuilder m_builder{13};
    graph::Entry m_rows;
    graph::Entry m_product;
    std::vector<float> m_values{1, -4, 0.5F, 0.2F, -3, 0, 0.25F, 0.125F};
};

} // namespace

/// One set of codes for a table and for the weights that it is (core/quantize/RULES.md, Q-pair-table).
class TstTiedTable : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aTableThatIsAlsoWeightsIsStoredOnce_data()
    {
        QTest::addColumn<bool>("perChannel");
        QTest::newRow("a scale a row") << true;
        QTest::newRow("one scale") << false;
    }
    void aTableThatIsAlsoWeightsIsStoredOnce()
    {
        QFETCH(bool, perChannel);
        TiedTable network;
        quantize::QuantizeOptions options;
        options.perChannel = perChannel;
        const auto made = quantize::quantize(network.model(), options, {{"rows", {-4, 1}}});
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        const graph::Model &model = made.value().model;
        std::vector<std::string> ops{"Cast", "DequantizeLinear", "DequantizeLinear", "Gather", "MatMul",
                                     "Mul",  "QuantizeLinear",   "Transpose"};
        if (perChannel)
            ops.insert(ops.begin() + 3, "Gather");
        QCOMPARE(test::operatorsIn(model.graph), ops);
        std::size_t tables = 0;
        std::vector<float> scales;
        for (const tensor::Array &array : model.parameters) {
            QVERIFY(array.name != "table");
            tables += array.values.dtype() == DType::I8 && array.values.elementCount() == 8 ? 1 : 0;
            if (array.name.starts_with("table") && array.values.dtype() == DType::F32)
                scales = array.values.values<float>();
        }
        QCOMPARE(tables, 1U);
        QCOMPARE(scales.size(), perChannel ? 4U : 1U);
        QVERIFY(std::ranges::count(made.value().quantized, "rows") == 1);

        auto interpreter = interpret::Interpreter::create(model, {backends::reference::referenceBackend()});
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        const std::array<std::int64_t, 3> ids{2, 0, -1};
        const auto bytes = std::as_bytes(std::span(ids));
        const auto heads = interpreter.value().run(
            {{"ids", tensor::Tensor::owning(DType::I64, {3}, {bytes.begin(), bytes.end()})}});
        QVERIFY2(heads.ok(), heads.ok() ? "" : heads.error().message().c_str());
        const std::vector<float> table = network.decoded(scales);
        const std::vector<float> rows = heads.value()[1].values<float>();
        const std::vector<float> products = heads.value()[0].values<float>();
        const float step = 5.0F / 255; // of the rows as data
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t row = k == 2 ? 3 : static_cast<std::size_t>(ids[k]);
            for (std::size_t i = 0; i < 2; ++i)
                QVERIFY(std::abs(rows[2 * k + i] - table[2 * row + i]) < 1e-6);
            for (std::size_t j = 0; j < 4; ++j) {
                double want = 0;
                double most = 0;
                for (std::size_t i = 0; i < 2; ++i) {
                    want += double{table[2 * row + i]} * double{table[2 * j + i]};
                    most += std::abs(table[2 * j + i]) * step * 0.51;
                }
                QVERIFY(std::abs(products[4 * k + j] - want) < most + 1e-6);
            }
        }
    }

    void aTableWhoseRowsStayRealIsKept()
    {
        quantize::QuantizeOptions options;
        options.excludedNames = {"rows"};
        const auto made = quantize::quantize(TiedTable().model(), options, {{"rows", {-4, 1}}});
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        QVERIFY(std::ranges::find(made.value().model.parameters, "table", &tensor::Array::name)
                != made.value().model.parameters.end());
        QCOMPARE(std::ranges::count(test::operatorsIn(made.value().model.graph), "Cast"), 0);
    }
};

QTEST_GUILESS_MAIN(TstTiedTable)
#include "tst_tied_table.moc"
