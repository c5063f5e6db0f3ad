#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/read_operator.h"
#include "core/ops/infer_shape.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <span>
#include <string_view>

using namespace halftone;
using tensor::Shape;

namespace {

/// Where we refuse on purpose what MXNet 1.9.1's inference lets pass (it fails later, or computes nonsense).
constexpr std::string_view kStricter[] = {
    R"row(BatchNorm {} [[2,3,8,9],[4],null,null,null])row",
    R"row(Crop {"num_args":"2"} [[2,3,8,9],[2,7,40,5]])row",
    R"row(IdentityAttachKLSparseReg {} [[4,7],[6]])row",
    R"row(LeakyReLU {"act_type":"prelu"} [[2,3,8,9],[2]])row",
    R"row(Reshape {"shape":"(-1, 5)"} [[2,3,8,9]])row",
    R"row(Reshape {"shape":"(6, 8, 10)"} [[2,3,8,9]])row",
    R"row(_contrib_interleaved_matmul_selfatt_qk {"heads":"2"} [[5,3,25]])row",
    R"row(_linalg_potrf {} [[3,4]])row",
    R"row(_linalg_potrf {} [[3]])row",
    R"row(_linalg_potri {} [[3,4]])row",
    R"row(_linalg_potri {} [[3]])row",
    R"row(_linalg_sumlogdiag {} [[3]])row",
    R"row(_linalg_syevd {} [[3]])row",
    R"row(_linalg_syrk {} [[3]])row",
    R"row(_np_cumsum {"axis":"2"} [[3,4]])row",
    R"row(softmax {"axis":"4"} [[2,3,8,9]])row",
    R"row(stack {"axis":"1","num_args":"2"} [[2,3],[2,4]])row",
    R"row(transpose {"axes":"(0, 2, 2, 1)"} [[2,3,8,9]])row",
};

/// Where MXNet computes with an unknown dimension as if it were a number.
constexpr std::string_view kMisled[] = {
    R"row(Concat {"dim":"1","num_args":"3"} [[-1,3],[2,4],null])row",
    R"row(Pad {"mode":"constant","pad_width":"(0, 0, 0, 0, 1, 2, 3, 4)"} [[-1,3,8,-1]])row",
};

bool isAmong(const QString &name, std::span<const std::string_view> names)
{
    return std::ranges::count(names, name.toStdString()) != 0;
}

QJsonArray goldens()
{
    QFile file(QStringLiteral(HALFTONE_TEST_DATA "/shapes/operators.json"));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).array() : QJsonArray();
}

QString compact(const QJsonValue &value)
{
    const QJsonDocument document
        = value.isArray() ? QJsonDocument(value.toArray()) : QJsonDocument(value.toObject());
    return QString::fromUtf8(document.toJson(QJsonDocument::Compact));
}

QString rowName(const QJsonObject &row)
{
    return row["op"].toString() + ' ' + compact(row["attrs"]) + ' ' + compact(row["inputs"]);
}

Shape shapeOf(const QJsonValue &value)
{
    if (value.isNull())
        return {};
    std::vector<std::int64_t> dims;
    for (const QJsonValue dim : value.toArray())
        dims.push_back(dim.toInteger());
    return Shape(std::move(dims));
}

std::vector<Shape> shapesOf(const QJsonValue &value)
{
    std::vector<Shape> shapes;
    for (const QJsonValue shape : value.toArray())
        shapes.push_back(shapeOf(shape));
    return shapes;
}

graph::NodeDef nodeOf(const QJsonObject &row)
{
    graph::NodeDef node;
    node.op = row["op"].toString().toStdString();
    node.name = "op";
    const QJsonObject attributes = row["attrs"].toObject();
    for (auto it = attributes.begin(); it != attributes.end(); ++it)
        node.attributes.set(it.key().toStdString(), it.value().toString().toStdString());
    return node;
}

/// Whether all that `known` knows is also in `mine`, with the same values.
bool covers(const Shape &mine, const Shape &known)
{
    if (!known.hasRank())
        return true;
    if (!mine.hasRank() || mine.rank() != known.rank())
        return false;
    for (std::size_t axis = 0; axis < known.rank(); ++axis) {
        if (known[axis] >= 0 && known[axis] != mine[axis])
            return false;
    }
    return true;
}

struct Inferred
{
    std::vector<Shape> inputs;
    std::vector<Shape> outputs;
    std::optional<Error> error;
};

/// Reads and infers to the fixpoint.
Inferred inferred(const QJsonObject &row)
{
    const graph::NodeDef node = nodeOf(row);
    Inferred result;
    result.inputs = shapesOf(row["inputs"]);
    const auto op = dialect::mxnet::readOperator(node);
    if (!op.ok())
        return {{}, {}, op.error()};
    result.outputs.resize(dialect::mxnet::outputCount(*dialect::mxnet::findOp(node.op), node.attributes));
    for (bool changed = true; changed;) {
        auto outcome = ops::inferShapes(op.value(), result.inputs, result.outputs);
        if (!outcome.ok())
            return {{}, {}, outcome.error()};
        changed = outcome.value();
    }
    return result;
}

} // namespace

class TestOperatorShapes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everythingMxnetInfersIsInferred_data() { addRows(false); }
    void everythingMxnetInfersIsInferred()
    {
        QFETCH(QJsonObject, row);
        const Inferred mine = inferred(row);
        if (isAmong(rowName(row), kStricter)) {
            QVERIFY(mine.error);
            return;
        }
        QVERIFY2(!mine.error, mine.error ? mine.error->message().c_str() : "");
        compare(mine.inputs, shapesOf(row["in"]));
        compare(mine.outputs, shapesOf(row["out"]));
    }

    void whatMxnetRefusesIsRefused_data() { addRows(true); }
    void whatMxnetRefusesIsRefused()
    {
        QFETCH(QJsonObject, row);
        const Inferred mine = inferred(row);
        QVERIFY(mine.error);
        QVERIFY(!mine.error->where.empty());
        QVERIFY(!mine.error->found.empty());
    }

private:
    static void compare(const std::vector<Shape> &mine, const std::vector<Shape> &known)
    {
        QVERIFY(mine.size() >= known.size());
        for (std::size_t i = 0; i < known.size(); ++i) {
            const std::string text
                = std::to_string(i) + ": " + mine[i].toString() + ", MXNet: " + known[i].toString();
            QVERIFY2(covers(mine[i], known[i]), text.c_str());
        }
    }

    /// Of the refused ones only those whose shapes are complete: MXNet also refuses where it merely lacks
    /// knowledge.
    static void addRows(bool refused)
    {
        QTest::addColumn<QJsonObject>("row");
        for (const QJsonValue value : goldens()) {
            const QJsonObject row = value.toObject();
            const bool complete = std::ranges::all_of(shapesOf(row["inputs"]), &Shape::isComplete);
            // Pooling's "same" is refused by this build of MXNet for every input; the definition is ours to
            // keep.
            const bool same = row["attrs"]["pooling_convention"] == QStringLiteral("same");
            if (isAmong(rowName(row), kMisled))
                continue;
            if (row["refused"].toBool() == refused && (!refused || (complete && !same)))
                QTest::newRow(qPrintable(rowName(row))) << row;
        }
    }
};

QTEST_APPLESS_MAIN(TestOperatorShapes)
#include "tst_operator_shapes.moc"
