#include "core/dialect/mxnet/dtype_code.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/infer_types.h"
#include "core/io/mxnet/symbol_json.h"
#include "tests/support/files.h"

#include <QTest>

using namespace halftone;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;

/// Every output of every node of whole models, hidden ones too, as the real MXNet infers them
/// (tests/support/record_inference.py). The models themselves are too large for the repository: HALFTONE_SHARED/models
/// holds the trained ones, HALFTONE_ZOO those of GluonCV and GluonNLP.
class TestWholeNetworks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void trainedModels_data() { addRows("models", "HALFTONE_SHARED", "/models"); }
    void trainedModels() { compare(); }
    void zooModels_data() { addRows("zoo", "HALFTONE_ZOO", ""); }
    void zooModels() { compare(); }

private:
    static void addRows(const char *golden, const char *variable, const char *folder)
    {
        QTest::addColumn<nlohmann::json>("row");
        QTest::addColumn<QByteArray>("path");
        const QByteArray root = qgetenv(variable);
        const nlohmann::json rows
            = test::readJson(std::string(HALFTONE_TEST_DATA) + "/shapes/" + golden + ".json");
        for (const auto &row : rows) {
            const std::string name = row.at("name");
            const std::string symbol = row.at("symbol");
            const QByteArray path
                = root.isEmpty() ? QByteArray() : root + folder + '/' + name.c_str() + '/' + symbol.c_str();
            QTest::addRow("%s", name.c_str()) << row << path;
        }
    }

    static void compare();
};

Q_DECLARE_METATYPE(nlohmann::json)

namespace {

Shape shapeOf(const nlohmann::json &value)
{
    return value.is_null() ? Shape() : Shape(value.get<std::vector<std::int64_t>>());
}

DType typeOf(const nlohmann::json &value)
{
    return value.is_null() ? DType::Unknown
                           : tensor::dtypeNamed(value.get<std::string>()).value_or(DType::Unknown);
}

std::vector<DType> variableTypes(const graph::Graph &graph, const nlohmann::json &given)
{
    std::vector<DType> types(graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto at = given.find(graph.node(id).name);
        const std::string *const declared = graph.node(id).attributes.find("__dtype__");
        if (graph.isVariable(id) && at != given.end())
            types[id] = typeOf(*at);
        else if (graph.isVariable(id) && declared)
            types[id] = dialect::mxnet::dtypeOfCode(std::stoi(*declared)).value_or(DType::Unknown);
    }
    return types;
}

} // namespace

void TestWholeNetworks::compare()
{
    QFETCH(nlohmann::json, row);
    QFETCH(QByteArray, path);
    if (path.isEmpty())
        QSKIP("the folder of the models is not set");
    std::vector<std::string> notes;
    const auto read = io::readSymbol(test::readFile(path.toStdString()), notes);
    QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
    const graph::Graph &graph = read.value();
    std::unordered_map<std::string, Shape> known;
    for (const auto &[name, dims] : row.at("shapes").items())
        known.emplace(name, shapeOf(dims));
    const auto shapes = infer::inferShapes(graph, known);
    QVERIFY2(shapes.ok(), shapes.ok() ? "" : shapes.error().message().c_str());
    const auto types = infer::inferTypes(graph, variableTypes(graph, row.at("types")));
    QVERIFY2(types.ok(), types.ok() ? "" : types.error().message().c_str());

    std::unordered_map<std::string, NodeId> ids;
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        ids.emplace(graph.node(id).name, id);
    std::string differences;
    for (const auto &node : row.at("nodes")) {
        const auto at = ids.find(node.at(0));
        QVERIFY2(at != ids.end(), node.at(0).get<std::string>().c_str());
        const NodeId id = at->second;
        const auto outputs = types.value().outputs(id);
        QCOMPARE(outputs.size(), node.at(1).size());
        for (std::size_t k = 0; k < outputs.size(); ++k) {
            const Shape &shape = shapes.value().byNode[id][k];
            if (shape != shapeOf(node.at(1).at(k)) || outputs[k] != typeOf(node.at(2).at(k)))
                differences += '\n' + graph.node(id).op + ' ' + graph.node(id).name + ':' + std::to_string(k)
                    + ' ' + shape.toString() + ' ' + std::string(tensor::nameOf(outputs[k])) + ", MXNet "
                    + node.at(1).at(k).dump() + ' ' + node.at(2).at(k).dump();
        }
    }
    QVERIFY2(differences.empty(), differences.substr(0, 4000).c_str());
}

QTEST_APPLESS_MAIN(TestWholeNetworks)
#include "tst_whole_networks.moc"
