#include "tests/support/build_graph.h"
#include "tests/support/typed/properties.h"

#include <QTest>

#include <set>

using namespace halftone;
using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
using mixed::ConvertedModel;
using tensor::DType;
using test::Damage;

namespace {

/// x and w meet in a target operator, which an fp32 operator and a head read: three casts in float16.
test::TypedCase smallCase()
{
    test::GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")},
                         {{"num_hidden", "4"}, {"no_bias", "True"}});
    const auto exp = g.op("exp", "exp", {fc});
    test::TypedCase given{{g.withHeads({exp, fc}), {}, false}, {}};
    given.policy.mode = policy::Mode::Typed;
    given.policy.dataNames = {"x"};
    return given;
}

NodeId nodeNamed(const Graph &graph, const std::string &name)
{
    NodeId id = 0;
    while (graph.node(id).name != name)
        ++id;
    return id;
}

/// A copy of the graph in which one input of a node reads something else.
void rewire(ConvertedModel &converted, const std::string &node, std::size_t input, const std::string &source)
{
    const Graph &old = converted.model.graph;
    Graph result = Graph::like(old);
    for (NodeId id = 0; id < old.nodeCount(); ++id) {
        std::vector<Entry> inputs(old.inputs(id).begin(), old.inputs(id).end());
        if (old.node(id).name == node)
            inputs[input] = {nodeNamed(old, source), 0, 0};
        result.add(old.sharedNode(id), inputs);
    }
    result.setHeads({old.heads().begin(), old.heads().end()});
    converted.model.graph = std::move(result);
}

Entry append(Graph &graph, const std::string &op, const std::string &name, const Entry &input,
             graph::Attributes attributes)
{
    const auto def = std::make_shared<NodeDef>(NodeDef{op, name, std::move(attributes), {}});
    const NodeId id = graph.add(def, std::vector{input});
    return {id, 0, 0};
}

/// Lets head 1 read a new node over a tensor.
void insertAtHead(ConvertedModel &converted, const std::string &op, const std::string &name,
                  const std::string &tensor, graph::Attributes attributes)
{
    Graph graph = converted.model.graph;
    const Entry input{nodeNamed(graph, tensor), 0, 0};
    const Entry head = append(graph, op, name, input, std::move(attributes));
    converted.conversion.types.append(DType::Unknown);
    graph.setHeads({graph.heads()[0], head});
    converted.model.graph = std::move(graph);
}

struct Row
{
    const char *what;
    const char *property;
    Damage damage;
};

const std::vector<Row> &rows()
{
    static const std::vector<Row> kRows{
        {"an operator reads past its cast", "types agree with the oracle",
         [](ConvertedModel &c) { rewire(c, "fc", 0, "x"); }},
        {"an operator reads past all of its casts", "target operators compute in the target type or say why",
         [](ConvertedModel &c) {
             rewire(c, "fc", 0, "x");
             rewire(c, "fc", 1, "w");
         }},
        {"an fp32 operator reads 16 bit", "fp32 operators read no 16 bit",
         [](ConvertedModel &c) { rewire(c, "exp", 0, "fc"); }},
        {"a cast is made twice", "no two casts of one tensor to one type",
         [](ConvertedModel &c) {
             insertAtHead(c, "amp_cast", "again", "fc", {{"dtype", "float32"}});
         }},
        {"a cast is cast", "no cast of a cast",
         [](ConvertedModel &c) {
             insertAtHead(c, "amp_cast", "again", "fc_0_amp_cast_float32", {{"dtype", "float16"}});
         }},
        {"a float32 tensor is cast to float32", "no cast between equal types",
         [](ConvertedModel &c) {
             insertAtHead(c, "amp_cast", "again", "exp", {{"dtype", "float32"}});
         }},
        {"a head stays in 16 bit", "heads keep their types",
         [](ConvertedModel &c) { insertAtHead(c, "_copy", "again", "fc", {}); }},
        {"a multicast is left", "no amp_multicast is left",
         [](ConvertedModel &c) {
             insertAtHead(c, "amp_multicast", "again", "fc", {{"num_outputs", "1"}});
         }},
        {"a name comes twice", "names are unique",
         [](ConvertedModel &c) { insertAtHead(c, "_copy", "exp", "fc_0_amp_cast_float32", {}); }},
        {"a cast too many", "casts stay within the bound",
         [](ConvertedModel &c) {
             insertAtHead(c, "amp_cast", "again", "exp", {{"dtype", "float16"}});
         }},
        {"a cast is not told", "the log gives the graph",
         [](ConvertedModel &c) { c.conversion.casts.pop_back(); }},
        {"a reader is not told", "the log gives the graph",
         [](ConvertedModel &c) { c.conversion.casts.back().readers.pop_back(); }},
        {"a cast is told of another tensor", "casts are named after what they cast",
         [](ConvertedModel &c) { c.conversion.casts.back().tensor = c.conversion.casts.front().tensor; }},
        {"a parameter is stored unasked", "stored parameters have no float32 reader",
         [](ConvertedModel &c) {
             c.conversion.parameters.push_back({1, DType::F32, DType::F16});
         }},
        {"different nodes are merged", "merged nodes compute the same",
         [](ConvertedModel &c) {
             c.conversion.merged.push_back({3, 2});
         }},
        {"the whole differs from a second conversion", "converting twice changes nothing",
         [](ConvertedModel &c) {
             insertAtHead(c, "amp_cast", "again", "fc", {{"dtype", "float32"}});
         }},
    };
    return kRows;
}

} // namespace

/// Each property of mode typed notices the damage that it is there for: a property that nothing can break proves
/// nothing.
class TestTypedDamage : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theUndamagedConversionHasEveryProperty();
    void damageIsNoticed_data();
    void damageIsNoticed();
};

void TestTypedDamage::theUndamagedConversionHasEveryProperty()
{
    const auto violations = test::violationsOf(smallCase());
    QVERIFY(violations);
    QVERIFY2(violations->empty(), violations->empty() ? "" : violations->front().text.c_str());
}

void TestTypedDamage::damageIsNoticed_data()
{
    QTest::addColumn<int>("row");
    for (std::size_t k = 0; k < rows().size(); ++k)
        QTest::newRow(rows()[k].what) << static_cast<int>(k);
}

void TestTypedDamage::damageIsNoticed()
{
    QFETCH(int, row);
    const Row &damaged = rows()[static_cast<std::size_t>(row)];
    const auto violations = test::violationsOf(smallCase(), damaged.damage);
    QVERIFY(violations);
    std::set<std::string> noticed;
    for (const test::Violation &violation : *violations)
        noticed.insert(violation.property);
    QVERIFY2(noticed.contains(damaged.property),
             qPrintable(QStringLiteral("%1 noticed").arg(noticed.size())));
}

QTEST_APPLESS_MAIN(TestTypedDamage)
#include "tst_typed_damage.moc"
