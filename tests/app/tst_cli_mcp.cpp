#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

using namespace halftone::test;

namespace {

using Json = nlohmann::json;

/// A client that writes lines of its own.
class Client
{
public:
    explicit Client(const QStringList &folders)
    {
        m_process.start(QStringLiteral(HALFTONE_CLI), QStringList{"mcp"} + folders);
        if (!m_process.waitForStarted())
            qFatal("not started");
    }
    ~Client()
    {
        if (m_process.state() != QProcess::NotRunning)
            end();
    }

    void write(const QByteArray &bytes) { m_process.write(bytes); }
    void send(Json message)
    {
        message["jsonrpc"] = "2.0";
        write(QByteArray::fromStdString(message.dump()) + '\n');
    }
    void request(const Json &id, const char *method, const Json &params)
    {
        send({{"id", id}, {"method", method}, {"params", params}});
    }
    void call(const Json &id, const char *tool, const Json &arguments, const Json &meta = Json::object())
    {
        request(id, "tools/call", {{"name", tool}, {"arguments", arguments}, {"_meta", meta}});
    }

    /// The next message; the test ends when there is none.
    Json read()
    {
        while (!m_process.canReadLine()) {
            if (!m_process.waitForReadyRead(50'000))
                qFatal("no answer");
        }
        return Json::parse(m_process.readLine().toStdString());
    }

    /// The result of a tool whose call is the only one under way.
    Json result(const char *tool, const Json &arguments)
    {
        call(1, tool, arguments);
        return read().at("result");
    }

    /// -1: it crashed
    int end()
    {
        m_process.closeWriteChannel();
        if (!m_process.waitForFinished(10'000))
            qFatal("no end");
        return m_process.exitStatus() == QProcess::NormalExit ? m_process.exitCode() : -1;
    }

private:
    QProcess m_process;
};

std::string path(const QString &name)
{
    return name.toStdString();
}

std::string textOf(const Json &result)
{
    return result.at("content").at(0).at("text").get<std::string>();
}

/// Without what differs between runs.
Json steady(Json document)
{
    document.erase("seconds");
    document.erase("peak_bytes");
    document.erase("written");
    return document;
}

QTemporaryDir *s_folder = nullptr;

} // namespace

/// `halftone-cli mcp` with raw lines.
class TestCliMcp : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { s_folder = new QTemporaryDir; }
    void cleanupTestCase() { delete s_folder; }

    void theServerIntroducesItself()
    {
        Client client({kSampleFolder});
        client.request("a", "initialize",
                       {{"protocolVersion", "2025-03-26"}, {"capabilities", Json::object()}});
        const Json answer = client.read();
        QCOMPARE(answer.at("id"), Json("a"));
        QCOMPARE(answer.at("result").at("protocolVersion"), Json("2025-03-26"));
        QVERIFY(answer.at("result").at("capabilities").contains("tools"));
        QCOMPARE(answer.at("result").at("serverInfo").at("name"), Json("halftone"));
        client.send({{"method", "notifications/initialized"}});
        client.request(2, "initialize", {{"protocolVersion", "1999-01-01"}});
        QCOMPARE(client.read().at("result").at("protocolVersion"), Json("2025-11-25"));
        client.request(3, "ping", Json::object());
        QCOMPARE(client.read().at("result"), Json::object());
        QCOMPARE(client.end(), 0);
    }

    void everyToolHasASchema()
    {
        Client client({kSampleFolder});
        client.request(1, "tools/list", Json::object());
        const Json tools = client.read().at("result").at("tools");
        std::vector<std::string> names;
        for (const Json &tool : tools) {
            names.push_back(tool.at("name"));
            QVERIFY(!tool.at("description").get<std::string>().empty());
            QCOMPARE(tool.at("inputSchema").at("type"), Json("object"));
            QCOMPARE(tool.at("inputSchema").at("required").at(0), Json("model"));
            QVERIFY(!tool.at("inputSchema").at("properties").contains("json"));
        }
        std::ranges::sort(names);
        QCOMPARE(names,
                 (std::vector<std::string>{"compare", "convert", "info", "profile", "quantize", "tune",
                                           "verify"}));
        const auto convert
            = std::ranges::find(tools, Json("convert"), [](const Json &tool) { return tool.at("name"); });
        const Json schema = convert->at("inputSchema");
        QCOMPARE(schema.at("required"), Json({"model", "out"}));
        QCOMPARE(schema.at("properties").at("fp32_op").at("type"), Json("array"));
        QCOMPARE(schema.at("properties").at("clamp").at("type"), Json("boolean"));
    }

    void aToolGivesTheJsonOfItsCommand()
    {
        Client client({kSampleFolder, s_folder->path()});
        const Json expected = steady(callCli({"convert", kSample, "--json", "--target", "bf16", "--fp32-op",
                                              "Convolution", "--out", s_folder->filePath("line")})
                                         .json());
        const Json result = client.result("convert",
                                          {{"model", "digits-symbol.json"},
                                           {"target", "bf16"},
                                           {"fp32_op", {"Convolution"}},
                                           {"out", path(s_folder->filePath("tool"))}});
        QCOMPARE(result.at("isError"), Json(false));
        QCOMPARE(steady(result.at("structuredContent")), expected);
        QCOMPARE(steady(Json::parse(textOf(result))), expected);
        QCOMPARE(contentOf(s_folder->filePath("tool-symbol.json")),
                 contentOf(s_folder->filePath("line-symbol.json")));
    }

    void aFailedCheckIsAResult()
    {
        Client client({kSampleFolder});
        const Json result = client.result("verify", {{"model", "digits-symbol.json"}, {"target", "float16"}});
        QCOMPARE(result.at("isError"), Json(false));
        QVERIFY(!result.at("structuredContent").at("differences").empty());
        QVERIFY(result.at("content").at(1).at("text").get<std::string>().starts_with("error: "));
    }

    void anErrorOfTheCommandIsAResult()
    {
        Client client({kSampleFolder, s_folder->path()});
        const Json result = client.result("convert",
                                          {{"model", "digits.onnx"},
                                           {"target", "float16"},
                                           {"fp32_op", {"Sofmax"}},
                                           {"strict", true},
                                           {"out", path(s_folder->filePath("none"))}});
        QCOMPARE(result.at("isError"), Json(true));
        QVERIFY2(textOf(result).find("Softmax") != std::string::npos, textOf(result).c_str());
    }

    void wrongArgumentsAreNamed_data()
    {
        QTest::addColumn<QByteArray>("arguments");
        QTest::addColumn<QByteArray>("said");
        QTest::newRow("no model") << QByteArray(R"({})") << QByteArray("model: missing");
        QTest::newRow("unknown") << QByteArray(R"({"model": "digits.onnx", "traget": "x"})")
                                 << QByteArray("did you mean target?");
        QTest::newRow("no flag") << QByteArray(R"({"model": "digits.onnx", "strict": "yes"})")
                                 << QByteArray("true or false");
        QTest::newRow("no text") << QByteArray(R"({"model": "digits.onnx", "target": {"a": []}})")
                                 << QByteArray("a string or number");
        QTest::newRow("zero byte") << QByteArray(R"({"model": "digits.onnx", "target": "a\u0000b"})")
                                   << QByteArray("a string or number");
        QTest::newRow("an option as a path") << QByteArray(R"({"model": "--help"})") << QByteArray("--help");
    }
    void wrongArgumentsAreNamed()
    {
        QFETCH(QByteArray, arguments);
        QFETCH(QByteArray, said);
        Client client({kSampleFolder});
        const Json result = client.result("verify", Json::parse(arguments.toStdString()));
        QCOMPARE(result.at("isError"), Json(true));
        QVERIFY2(textOf(result).find(said.toStdString()) != std::string::npos, textOf(result).c_str());
    }

    void filesOutsideTheFoldersAreRefused()
    {
        QTemporaryDir outside;
        QVERIFY(QFile::copy(kSampleFolder + "digits.onnx", outside.filePath("other.onnx")));
        QVERIFY(QFile::link(outside.filePath("other.onnx"), s_folder->filePath("link.onnx")));
        QVERIFY(QFile::link(outside.filePath("other.onnx"), s_folder->filePath("out.onnx")));
        Client client({s_folder->path(), kSampleFolder});
        const std::string inside = path(kSampleFolder + "digits.onnx");
        const std::string other = path(outside.filePath("other.onnx"));
        const std::vector<Json> calls{
            {{"model", other}, {"out", "m"}},
            {{"model", "../" + other}, {"out", "m"}},
            {{"model", "link.onnx"}, {"out", "m"}},
            {{"model", inside}, {"out", path(outside.filePath("m"))}},
            {{"model", inside}, {"out", "out"}},
            {{"model", inside}, {"out", "m"}, {"policy", other}},
            {{"model", inside}, {"out", "m"}, {"hardware", other}},
            {{"model", inside}, {"out", "m"}, {"inputs", path(outside.path())}},
        };
        for (const Json &arguments : calls) {
            const Json result = client.result("convert", arguments);
            QVERIFY2(result.at("isError").get<bool>(), arguments.dump().c_str());
            QVERIFY2(textOf(result).find("outside") != std::string::npos
                         || textOf(result).find("a path in") != std::string::npos,
                     textOf(result).c_str());
        }
        QCOMPARE(contentOf(outside.filePath("other.onnx")), contentOf(kSampleFolder + "digits.onnx"));
    }

    void folderMustExist()
    {
        const CliOutcome outcome = callCli({"mcp", "/no/such/folder"});
        QCOMPARE(outcome.code, 2);
        QVERIFY(outcome.err.contains("/no/such/folder"));
        QCOMPARE(callCli({"mcp"}).code, 2);
    }

    void aLongCallReportsProgressAndCanBeCancelled()
    {
        Client client({kSampleFolder, s_folder->path()});
        const Json arguments{{"model", "digits.onnx"},
                             {"inputs", "digits-test.npz"},
                             {"effect", "isolated"},
                             {"target", "bfloat16"}};
        client.call("slow", "compare", arguments, {{"progressToken", 7}});
        double last = 0;
        for (int k = 0; k < 3; ++k) {
            const Json message = client.read();
            QCOMPARE(message.at("method"), Json("notifications/progress"));
            QCOMPARE(message.at("params").at("progressToken"), Json(7));
            const double share = message.at("params").at("progress");
            QVERIFY(share > last && share <= 1);
            last = share;
        }
        client.call("waiting", "info", {{"model", "digits.onnx"}});
        client.send({{"method", "notifications/cancelled"}, {"params", {{"requestId", "slow"}}}});
        QElapsedTimer timer;
        timer.start();
        Json message = client.read();
        while (message.contains("method"))
            message = client.read();
        QCOMPARE(message.at("id"), Json("waiting"));
        QVERIFY(timer.elapsed() < 5000);
    }

    void aWaitingCallCanBeCancelled()
    {
        Client client({kSampleFolder});
        client.call(1, "info", {{"model", "digits.onnx"}});
        client.call(2, "info", {{"model", "digits.onnx"}});
        client.call(3, "info", {{"model", "digits.onnx"}});
        client.send({{"method", "notifications/cancelled"}, {"params", {{"requestId", 2}}}});
        QCOMPARE(client.read().at("id"), Json(1));
        QCOMPARE(client.read().at("id"), Json(3));
    }

    void hostileLinesGetErrors_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<int>("code");
        QTest::newRow("no JSON") << QByteArray("hello") << -32700;
        QTest::newRow("zero bytes") << QByteArray(10, '\0') << -32700;
        QTest::newRow("broken UTF-8") << QByteArray("{\"jsonrpc\": \"\xff\"}") << -32700;
        QTest::newRow("number too large") << QByteArray("1e9999") << -32700;
        QTest::newRow("deep") << QByteArray(900'000, '[') << -32700;
        QTest::newRow("deep and closed") << QByteArray(400'000, '[') + QByteArray(400'000, ']') << -32600;
        QTest::newRow("too long") << QByteArray(3 << 20, '[') << -32600;
        QTest::newRow("batch") << QByteArray("[]") << -32600;
        QTest::newRow("null") << QByteArray("null") << -32600;
        QTest::newRow("no version") << QByteArray(R"({"id": 1, "method": "ping"})") << -32600;
        QTest::newRow("id is an object")
            << QByteArray(R"({"jsonrpc": "2.0", "id": {}, "method": "ping"})") << -32600;
        QTest::newRow("method is a number")
            << QByteArray(R"({"jsonrpc": "2.0", "id": 1, "method": 5})") << -32600;
        QTest::newRow("unknown method")
            << QByteArray(R"({"jsonrpc": "2.0", "id": 1, "method": "x"})") << -32601;
        QTest::newRow("no tool") << QByteArray(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call"})")
                                 << -32602;
        QTest::newRow("a command that is no tool")
            << QByteArray(R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "mcp"}})")
            << -32602;
        QTest::newRow("arguments as a list") << QByteArray(
            R"({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "info", "arguments": [1]}})")
                                             << -32602;
    }
    void hostileLinesGetErrors()
    {
        QFETCH(QByteArray, line);
        QFETCH(int, code);
        Client client({kSampleFolder});
        client.write(line + '\n');
        QCOMPARE(client.read().at("error").at("code"), Json(code));
        client.request(2, "ping", Json::object()); // it is still there
        QCOMPARE(client.read().at("id"), Json(2));
        QCOMPARE(client.end(), 0);
    }

    void answersAndUnknownNotificationsAreIgnored()
    {
        Client client({kSampleFolder});
        client.write("\n \r\n");
        client.send({{"id", 1}, {"result", Json::object()}});
        client.send({{"method", "notifications/cancelled"}});
        client.send({{"method", "notifications/cancelled"}, {"params", {{"requestId", {1, 2}}}}});
        client.send({{"method", "notifications/unknown"}, {"params", 5}});
        client.request(2, "ping", Json::object());
        QCOMPARE(client.read().at("id"), Json(2));
    }
};

QTEST_GUILESS_MAIN(TestCliMcp)
#include "tst_cli_mcp.moc"
