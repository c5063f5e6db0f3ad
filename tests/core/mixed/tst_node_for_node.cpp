#include "core/io/mxnet/symbol_json.h"
#include "core/mixed/convert_model.h"
#include "core/policy/policy_json.h"
#include "tests/support/files.h"
#include "tests/support/graph_text.h"

#include <QTest>

#include <filesystem>

using namespace halftone;

namespace {

const std::string kCases = std::string(HALFTONE_TEST_DATA) + "/amp/";

graph::Model modelOf(const std::string &path)
{
    std::vector<std::string> notes;
    auto graph = io::readSymbol(test::readFile(path), notes);
    if (!graph.ok())
        qFatal("%s: %s", path.c_str(), graph.error().message().c_str());
    return {std::move(graph).value(), {}, false};
}

/// The settings of a recorded call as a policy; nulls are defaults of MXNet's and left out.
std::string policyTextOf(const nlohmann::json &recorded)
{
    nlohmann::json policy;
    for (const auto &[key, value] : recorded.at("settings").items()) {
        if (!value.is_null() && key != "op_lists")
            policy[key] = value;
    }
    policy["mode"] = "mxnet";
    policy["api"] = recorded.at("api");
    if (recorded.at("api") == "convert_model") { // the weights are not at hand: every input that is not data
        // counts as a parameter
        policy["data_names"] = nlohmann::json::array();
        for (const auto &[name, shape] : recorded.at("input_shapes").items())
            policy["data_names"].push_back(name);
    }
    if (recorded.at("known_defects") == nlohmann::json{"D-int-inputs"})
        policy["input_dtypes"] = recorded.at("input_dtypes");
    return policy.dump();
}

Result<mixed::ConvertedModel> convert(const std::string &name)
{
    const nlohmann::json recorded = test::readJson(kCases + name + "/case.json");
    HALFTONE_TRY(const policy::Policy policy, policy::readPolicy(policyTextOf(recorded)));
    return mixed::convertModel(modelOf(kCases + name + "/model-symbol.json"), policy, false);
}

} // namespace

class TestConvertMxnet : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyRecordedConversionComesOutNodeForNode_data();
    void everyRecordedConversionComesOutNodeForNode();
    void whatOnlyADefectOfTheReferenceStopsConverts_data();
    void whatOnlyADefectOfTheReferenceStopsConverts();
};

void TestConvertMxnet::everyRecordedConversionComesOutNodeForNode_data()
{
    QTest::addColumn<QString>("name");
    for (const std::string &name : test::foldersIn(kCases)) {
        const auto recorded = test::readJson(kCases + name + "/case.json");
        if (recorded.at("result") == "ok" && recorded.at("known_defects").empty())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
}

void TestConvertMxnet::everyRecordedConversionComesOutNodeForNode()
{
    QFETCH(QString, name);
    const auto converted = convert(name.toStdString());
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
    const graph::Model want = modelOf(kCases + name.toStdString() + "/expected-symbol.json");
    QCOMPARE(QString::fromStdString(test::difference(converted.value().model.graph, want.graph)), QString());
}

void TestConvertMxnet::whatOnlyADefectOfTheReferenceStopsConverts_data()
{
    QTest::addColumn<QString>("name");
    for (const std::string &name : test::foldersIn(kCases)) {
        if (!test::readJson(kCases + name + "/case.json").at("known_defects").empty())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
}

void TestConvertMxnet::whatOnlyADefectOfTheReferenceStopsConverts()
{
    QFETCH(QString, name);
    const auto converted = convert(name.toStdString());
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
}

QTEST_APPLESS_MAIN(TestConvertMxnet)
#include "tst_node_for_node.moc"
