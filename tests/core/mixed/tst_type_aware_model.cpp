#include "core/dialect/dialect.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/policy/policy_json.h"
#include "tests/support/files.h"
#include "tests/support/typed/type_aware_model.h"

#include <QTest>

using namespace halftone;
using tensor::DType;

namespace {

const std::string kData = std::string(HALFTONE_TEST_DATA) + '/';

nlohmann::json recordings()
{
    return test::readJson(kData + "amp-typeaware/expected.json");
}

graph::Graph graphOf(const std::string &model)
{
    std::vector<std::string> notes;
    auto graph = io::readSymbol(test::readFile(kData + "amp/" + model + "/model-symbol.json"), notes);
    if (!graph.ok())
        qFatal("%s: %s", model.c_str(), graph.error().message().c_str());
    return std::move(graph).value();
}

/// The lists of the case that the model was recorded with.
policy::Policy policyOf(const nlohmann::json &recorded)
{
    const nlohmann::json legacy
        = test::readJson(kData + "amp/" + recorded.at("model").get<std::string>() + "/case.json");
    nlohmann::json policy;
    for (const auto &[key, value] : legacy.at("settings").items()) {
        if (!value.is_null() && key != "op_lists")
            policy[key] = value;
    }
    policy["target_dtype"] = recorded.at("target_dtype");
    policy["excluded_sym_names"] = recorded.at("excluded_sym_names");
    auto read = policy::readPolicy(policy.dump());
    if (!read.ok())
        qFatal("%s", read.error().message().c_str());
    return std::move(read).value();
}

test::TypeAwareResult convert(const nlohmann::json &recorded)
{
    const graph::Graph graph = graphOf(recorded.at("model"));
    const policy::Policy policy = policyOf(recorded);
    std::vector<policy::Warning> warnings;
    const auto rules = policy::resolve(policy, dialect::of(graph), warnings);
    const auto named = policy::matchNames(policy, graph, warnings);
    if (!rules.ok() || !named.ok())
        qFatal("%s", (rules.ok() ? named.error() : rules.error()).message().c_str());
    test::Types types(graph.nodeCount(), DType::Unknown);
    std::vector<bool> isParameter(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            continue;
        const auto data = recorded.at("input_dtypes").find(graph.node(id).name);
        isParameter[id] = data == recorded.at("input_dtypes").end();
        types[id] = isParameter[id] ? DType::F32 : tensor::dtypeNamed(data->get<std::string>()).value();
    }
    return test::convertTypeAware(graph, policy::assign(graph, rules.value(), named.value()), types,
                                  isParameter, policy.target, recorded.at("cast_params_offline"));
}

} // namespace

/// The model that bounds mode typed's casts against results that were derived from the published algorithm and accepted
/// by MXNet's own type inference (tests/data/amp-typeaware).
class TestTypeAwareModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void recordedConversionsHaveTheSameCastsAndParameters_data();
    void recordedConversionsHaveTheSameCastsAndParameters();
};

void TestTypeAwareModel::recordedConversionsHaveTheSameCastsAndParameters_data()
{
    QTest::addColumn<QString>("name");
    const nlohmann::json all = recordings();
    for (const auto &[name, recorded] : all.items())
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestTypeAwareModel::recordedConversionsHaveTheSameCastsAndParameters()
{
    QFETCH(QString, name);
    const nlohmann::json recorded = recordings().at(name.toStdString());
    const test::TypeAwareResult got = convert(recorded);
    nlohmann::json stored = nlohmann::json::array();
    for (const auto &[parameter, type] : got.stored)
        stored.push_back(parameter);
    QCOMPARE(QString::fromStdString(nlohmann::json(got.casts).dump()),
             QString::fromStdString(recorded.at("inserted").dump()));
    QCOMPARE(QString::fromStdString(stored.dump()), QString::fromStdString(recorded.at("stored").dump()));
    QCOMPARE(got.castCount, recorded.at("casts").get<std::size_t>());
}

QTEST_APPLESS_MAIN(TestTypeAwareModel)
#include "tst_type_aware_model.moc"
