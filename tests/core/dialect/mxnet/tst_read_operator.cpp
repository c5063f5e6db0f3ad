#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/operator_rows.h"
#include "core/dialect/mxnet/read_operator.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace halftone;
using dialect::mxnet::readOperator;
using dialect::mxnet::writeOperator;

namespace {

graph::NodeDef node(std::string op, graph::Attributes attributes)
{
    return {std::move(op), "n", std::move(attributes), {}};
}

template <class T>
T read(std::string op, graph::Attributes attributes = {})
{
    const auto result = readOperator(node(std::move(op), std::move(attributes)));
    return result.ok() && result.value().is<T>() ? result.value().as<T>() : T{};
}

Error errorOf(std::string op, graph::Attributes attributes)
{
    const auto result = readOperator(node(std::move(op), std::move(attributes)));
    return result.ok() ? Error{} : result.error();
}

} // namespace

class TestReadOperator : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyRowNamesAnOperatorOfMxnet()
    {
        for (const auto &row : dialect::mxnet::operatorRows()) {
            const auto *info = dialect::mxnet::findOp(row.name);
            QVERIFY2(info && info->name == row.name, std::string(row.name).c_str());
        }
    }

    void defaultsAreMxnets()
    {
        const auto conv = read<ops::Conv>("Convolution", {{"kernel", "(3, 3)"}, {"num_filter", "8"}});
        QCOMPARE(conv.groups, 1);
        QVERIFY(conv.hasBias && conv.stride.empty() && conv.layout == ops::Layout::ChannelsFirst);
        QVERIFY(
            !read<ops::ConvTranspose>("Deconvolution", {{"kernel", "(3, 3)"}, {"num_filter", "8"}}).hasBias);
        QCOMPARE(read<ops::BatchNormalization>("BatchNorm").epsilon, 0.0010000000474974513);
        QCOMPARE(read<ops::Softmax>("softmax").axis, -1);
        QVERIFY(!read<ops::Softmax>("softmax").temperature);
        QVERIFY(read<ops::Pool>("Pooling", {{"kernel", "(2, 2)"}}).countPadding);
    }

    void everyFormOfATupleReads()
    {
        const ops::Dims expected{3, 3};
        for (const char *text : {"(3, 3)", "(3,3)", "[3, 3]", " ( 3 , 3 ) "})
            QCOMPARE(read<ops::Conv>("Convolution", {{"kernel", text}, {"num_filter", "8"}}).kernel,
                     expected);
        const auto slice = read<ops::Slice>("slice", {{"begin", "(None, 3)"}, {"end", "(None, None)"}});
        QVERIFY(slice.begin.size() == 2 && !slice.begin[0] && slice.begin[1] == 3 && !slice.end[1]);
    }

    void aliasesReadAsTheirOperator()
    {
        const auto op = readOperator(node("_Plus", {}));
        QVERIFY(op.ok() && op.value() == ops::Operator(ops::Binary{ops::BinaryKind::Add}));
    }

    void theNameDecidesTheKind()
    {
        QVERIFY(read<ops::ScalarBinary>("_rminus_scalar", {{"scalar", "2"}}).reversed);
        QVERIFY(read<ops::Cast>("amp_cast", {{"dtype", "float16"}}).floatsOnly);
        QVERIFY(!read<ops::Cast>("Cast", {{"dtype", "float16"}}).floatsOnly);
        QVERIFY(read<ops::Reduce>("norm", {{"ord", "1"}}).kind == ops::Reduce::Kind::L1);
    }

    void theOldReshapeFormBecomesCodes()
    {
        const ops::Dims inferred{-1, 72};
        const ops::Dims kept{0, -1};
        QCOMPARE(read<ops::Reshape>("Reshape", {{"target_shape", "(0, 72)"}}).shape, inferred);
        QCOMPARE(read<ops::Reshape>("Reshape", {{"target_shape", "(5, 0)"}, {"keep_highest", "True"}}).shape,
                 kept);
    }

    void unknownOperatorsAndVariablesAreOpaque()
    {
        QCOMPARE(read<ops::Opaque>("MyOwnOp", {{"x", "("}}).name, std::string("MyOwnOp"));
        QCOMPARE(read<ops::Opaque>("null").name, std::string("null"));
    }

    void anErrorNamesNodeAttributeFoundAndExpected_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("text");
        QTest::newRow("tuple") << "Convolution"
                               << "stride"
                               << "(1, x)";
        QTest::newRow("integer") << "Convolution"
                                 << "num_group"
                                 << "two";
        QTest::newRow("too big") << "Convolution"
                                 << "num_group"
                                 << "99999999999999999999";
        QTest::newRow("boolean") << "Convolution"
                                 << "no_bias"
                                 << "maybe";
        QTest::newRow("enum") << "Pooling"
                              << "pool_type"
                              << "median";
        QTest::newRow("layout rank") << "Convolution"
                                     << "layout"
                                     << "NCDHW";
        QTest::newRow("real") << "LeakyReLU"
                              << "slope"
                              << "steep";
        QTest::newRow("type") << "Cast"
                              << "dtype"
                              << "float17";
        QTest::newRow("norm") << "norm"
                              << "ord"
                              << "3";
    }
    void anErrorNamesNodeAttributeFoundAndExpected()
    {
        QFETCH(QString, op);
        QFETCH(QString, key);
        QFETCH(QString, text);
        graph::Attributes attributes{{key.toStdString(), text.toStdString()}};
        if (op == QStringLiteral("Convolution")) {
            attributes.set("kernel", "(3, 3)");
            attributes.set("num_filter", "4");
        }
        const Error error = errorOf(op.toStdString(), attributes);
        QCOMPARE(error.where, "n: " + key.toStdString());
        QVERIFY(error.found.find(text.toStdString()) != std::string::npos);
        QVERIFY(!error.expected.empty());
    }

    void aMissingRequiredAttributeIsAnError()
    {
        QCOMPARE(errorOf("Convolution", {{"num_filter", "4"}}).where, std::string("n: kernel"));
    }

    void writingLeavesDefaultsOut()
    {
        const auto text = writeOperator(ops::Conv{.kernel = {3, 3}, .stride = {1, 1}, .outputChannels = 8});
        QVERIFY(text.ok());
        QCOMPARE(text.value().op, std::string("Convolution"));
        QVERIFY(text.value().attributes
                == (graph::Attributes{{"kernel", "(3, 3)"}, {"num_filter", "8"}, {"stride", "(1, 1)"}}));
    }

    void whatMxnetCannotSayIsNotWritten()
    {
        const ops::Conv uneven{.kernel = {3}, .pad = {{0}, {1}}, .outputChannels = 8};
        QVERIFY(!writeOperator(uneven).ok());
        QVERIFY(!writeOperator(ops::Reduce{}).ok());
        QVERIFY(!writeOperator(ops::Opaque{"x"}).ok());
        QVERIFY(!writeOperator(ops::Activation{ops::UnaryKind::Exp}).ok());
    }

    /// Over every operator of the shape goldens and every row without required attributes.
    void readingWhatWasWrittenGivesTheSame()
    {
        std::vector<graph::NodeDef> nodes;
        for (const auto &row : dialect::mxnet::operatorRows())
            nodes.push_back(node(std::string(row.name), {}));
        QFile file(QStringLiteral(HALFTONE_TEST_DATA "/shapes/operators.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (const QJsonValue value : QJsonDocument::fromJson(file.readAll()).array()) {
            graph::NodeDef def = node(value["op"].toString().toStdString(), {});
            const QJsonObject attributes = value["attrs"].toObject();
            for (auto it = attributes.begin(); it != attributes.end(); ++it)
                def.attributes.set(it.key().toStdString(), it.value().toString().toStdString());
            nodes.push_back(std::move(def));
        }
        int compared = 0;
        for (const graph::NodeDef &def : nodes) {
            const auto op = readOperator(def);
            if (!op.ok())
                continue;
            const auto text = writeOperator(op.value());
            QVERIFY2(text.ok(), def.op.c_str());
            const auto again = readOperator(node(text.value().op, text.value().attributes));
            QVERIFY2(again.ok() && again.value() == op.value(), def.op.c_str());
            ++compared;
        }
        QVERIFY(compared > 400);
    }
};

QTEST_APPLESS_MAIN(TestReadOperator)
#include "tst_read_operator.moc"
