#include "core/dialect/registry.h"
#include "core/policy/import_lists.h"
#include "core/policy/rules.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using policy::ImportedLists;
using policy::ListOrigin;

namespace {

const dialect::Dialect &onnx()
{
    return *dialect::dialectNamed("onnx");
}

Result<ImportedLists> read(ListOrigin origin, std::string_view text)
{
    return policy::importLists(origin, text, onnx());
}

/// What the policy makes of an operator, by the way that every policy goes.
policy::List listOf(const policy::Policy &wanted, const std::string &op)
{
    std::vector<policy::Warning> warnings;
    const auto rules = policy::resolve(wanted, onnx(), warnings);
    if (!rules.ok())
        qFatal("%s", rules.error().message().c_str());
    const auto at = rules.value().places.find(op);
    return at == rules.value().places.end() ? policy::List::Neutral : at->second.list;
}

bool holds(const std::vector<std::string> &names, const char *name)
{
    return std::ranges::find(names, name) != names.end();
}

} // namespace

class TestImportLists : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aConvertersCallIsRead_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("call") << QByteArray(
            "from onnxconverter_common import float16\n"
            "# op_block_list = ['Tanh'] is an old one\n"
            "model = float16.convert_float_to_float16(\n    model, keep_io_types=True,\n"
            "    op_block_list=['Softmax', \"Er\" 'f', 'MyOwn',],\n    node_block_list=['/head/Conv'])\n");
        QTest::newRow("json") << QByteArray(R"({"keep_io_types": true, "node_block_list": ["\/head\/Conv"],
            "op_block_list": ["Softmax", "Erf", "MyOwn"]})");
        QTest::newRow("assignments") << QByteArray(
            "keep_io_types = True\nop_block_list = set(('Softmax', 'Erf'))\n"
            "op_block_list = ['Softmax'] + ['Erf', 'MyOwn']\n"
            "options['node_block_list'] = ['''/head/Conv''']\n");
    }
    void aConvertersCallIsRead()
    {
        QFETCH(QByteArray, text);
        const auto lists = read(ListOrigin::OnnxConverter, text.toStdString());
        QVERIFY2(lists.ok(), lists.ok() ? "" : lists.error().message().c_str());
        const policy::Policy &wanted = lists.value().policy;
        QCOMPARE(wanted.target, tensor::DType::F16);
        QCOMPARE(wanted.keepIoTypes, std::optional(true));
        QCOMPARE(wanted.excludedNames, std::vector<std::string>{"/head/Conv"});
        QCOMPARE(lists.value().unmatched, std::vector<std::string>{"MyOwn"});
        for (const char *op : {"Softmax", "Erf"})
            QCOMPARE(listOf(wanted, op), policy::List::Fp32);
        // Given without the default list, nothing else is blocked.
        for (const char *op : {"Conv", "Relu", "Exp", "Resize", "LayerNormalization"})
            QCOMPARE(listOf(wanted, op), policy::List::Target);
    }

    void theConvertersOwnListHoldsWhereItIsNamedOrNothingElseIs()
    {
        for (const char *text :
             {"convert_float_to_float16(model, keep_io_types=False)",
              "convert_float_to_float16(model, op_block_list=None, keep_io_types=False)",
              "convert_float_to_float16(model, op_block_list=float16.DEFAULT_OP_BLOCK_LIST)",
              "op_block_list = [*DEFAULT_OP_BLOCK_LIST, 'Erf']",
              "op_block_list=float16.DEFAULT_OP_BLOCK_LIST + ['Erf']"}) {
            const auto lists = read(ListOrigin::OnnxConverter, text);
            QVERIFY2(lists.ok(), text);
            QCOMPARE(lists.value().policy.keepIoTypes, std::optional(false));
            for (const char *op : {"Resize", "TopK", "Min", "CumSum"})
                QCOMPARE(listOf(lists.value().policy, op), policy::List::Fp32);
            QCOMPARE(listOf(lists.value().policy, "Erf"),
                     std::string_view(text).find("Erf") == std::string_view::npos ? policy::List::Target
                                                                                  : policy::List::Fp32);
            QVERIFY(lists.value().unmatched.empty());
        }
    }

    void autoCastsArgumentsAreRead_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("call") << QByteArray(
            "convert_to_mixed_precision(onnx_path='m.onnx', low_precision_type=\"bf16\", data_max=512,\n"
            "    nodes_to_exclude=[r'/model/layer\\.[01]/.*', 'head'], op_types_to_exclude=['Resize'],\n"
            "    nodes_to_include=['Exp_1'], init_max=65504, keep_io_types=True)");
        QTest::newRow("command") << QByteArray(
            "python -m modelopt.onnx.autocast --onnx_path m.onnx \\\n"
            "  --low_precision_type bf16 --data_max 512 --init_max=65504 --keep_io_types \\\n"
            "  --nodes_to_exclude '/model/layer.[01]/.*' head --nodes_to_include Exp_1 \\\n"
            "  --op_types_to_exclude Resize\n");
    }
    void autoCastsArgumentsAreRead()
    {
        QFETCH(QByteArray, text);
        const auto lists = read(ListOrigin::ModelOpt, text.toStdString());
        QVERIFY2(lists.ok(), lists.ok() ? "" : lists.error().message().c_str());
        const policy::Policy &wanted = lists.value().policy;
        QCOMPARE(wanted.target, tensor::DType::BF16);
        QCOMPARE(wanted.excludedNames.size(), std::size_t{2});
        QVERIFY(wanted.excludedNames[0].starts_with("/^(/model/layer"));
        QCOMPARE(wanted.excludedNames[1], std::string("/^(head)/"));
        QCOMPARE(wanted.nodeOverrides,
                 (std::map<std::string, tensor::DType>{{"Exp_1", tensor::DType::BF16}}));
        QCOMPARE(wanted.keepIoTypes, std::optional(true));
        QCOMPARE(listOf(wanted, "Resize"), policy::List::Fp32);
        QCOMPARE(listOf(wanted, "Celu"), policy::List::Fp32);
        QCOMPARE(listOf(wanted, "Softmax"), policy::List::Target);
        QCOMPARE(lists.value().notes.size(), std::size_t{2}); // data_max, init_max
    }

    void grapplersListsBecomeOursByTheirCounterparts()
    {
        const auto lists = read(ListOrigin::TensorFlow,
                                R"({"allow": ["Conv2D", "MatMul", "FancyOp"], "deny": ["Softmax", "Mean"],
                                    "infer": ["AddV2", "Tanh"], "clear": ["Relu", "Reshape"]})");
        QVERIFY2(lists.ok(), lists.ok() ? "" : lists.error().message().c_str());
        const policy::Policy &wanted = lists.value().policy;
        for (const char *op : {"Conv", "MatMul", "Gemm"})
            QCOMPARE(listOf(wanted, op), policy::List::Target);
        for (const char *op : {"Softmax", "ReduceMean", "GlobalAveragePool"})
            QCOMPARE(listOf(wanted, op), policy::List::Fp32);
        QCOMPARE(listOf(wanted, "Add"), policy::List::Widest); // infer, and it has several inputs
        QCOMPARE(listOf(wanted, "Tanh"), policy::List::Neutral);
        QCOMPARE(listOf(wanted, "Relu"), policy::List::Neutral);
        QCOMPARE(listOf(wanted, "Sigmoid"), policy::List::Fp32); // in no list: grappler leaves it alone
        QCOMPARE(lists.value().unmatched, std::vector<std::string>{"FancyOp"});
    }

    void grapplersVariablesChangeItsOwnLists()
    {
        for (const char *text :
             {"export TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD=Softmax,Tanh\n"
              "export TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_INFERLIST_REMOVE=Softmax,Tanh\n",
              "os.environ['TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_DENYLIST_ADD'] = 'Softmax,Tanh'\n"
              "os.environ['TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_INFERLIST_REMOVE'] = 'Softmax, Tanh'\n"}) {
            const auto lists = read(ListOrigin::TensorFlow, text);
            QVERIFY2(lists.ok(), lists.ok() ? "" : lists.error().message().c_str());
            QCOMPARE(listOf(lists.value().policy, "Softmax"), policy::List::Fp32);
            QCOMPARE(listOf(lists.value().policy, "Tanh"), policy::List::Fp32);
            QCOMPARE(listOf(lists.value().policy, "Sigmoid"), policy::List::Neutral);
            QCOMPARE(listOf(lists.value().policy, "Conv"), policy::List::Target);
            QCOMPARE(listOf(lists.value().policy, "Exp"), policy::List::Fp32);
            QVERIFY(lists.value().unmatched.empty());
        }
    }

    void namesThatMeanOneOperatorAndDisagreeAreTold()
    {
        const auto lists = read(ListOrigin::TensorFlow, R"({"allow": ["Relu6"], "deny": ["ClipByValue"]})");
        QVERIFY(lists.ok());
        QCOMPARE(listOf(lists.value().policy, "Clip"), policy::List::Fp32);
        QCOMPARE(lists.value().notes.size(), std::size_t{1});
        QVERIFY(lists.value().notes[0].starts_with("Clip: "));
    }

    void tvmsTablesBecomeOurs_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("Relay") << QByteArray(
            "DEFAULT_ALWAYS_LIST = [\n    \"nn.conv2d\", \"nn.dense\",\n]\n"
            "DEFAULT_FOLLOW_LIST = [\n    # shape\n    'add', 'nn.relu', 'my.op']\n"
            "DEFAULT_NEVER_LIST = ['nn.softmax', 'mean']\n");
        QTest::newRow("Relax") << QByteArray(
            R"({"always": ["nn.conv2d", "matmul"], "follow": ["add", "relax.nn.relu", "my.op"],
            "never_by_default": ["nn.softmax", "mean"]})");
    }
    void tvmsTablesBecomeOurs()
    {
        QFETCH(QByteArray, text);
        const auto lists = read(ListOrigin::Tvm, text.toStdString());
        QVERIFY2(lists.ok(), lists.ok() ? "" : lists.error().message().c_str());
        const policy::Policy &wanted = lists.value().policy;
        for (const char *op : {"Conv", "MatMul", "Gemm"})
            QCOMPARE(listOf(wanted, op), policy::List::Target);
        for (const char *op : {"Softmax", "ReduceMean"})
            QCOMPARE(listOf(wanted, op), policy::List::Fp32);
        QCOMPARE(listOf(wanted, "Add"), policy::List::Widest);
        QCOMPARE(listOf(wanted, "Relu"), policy::List::Neutral);
        QCOMPARE(listOf(wanted, "Exp"), policy::List::Neutral); // in no list: it follows
        QVERIFY(holds(lists.value().unmatched, "my.op"));
        QCOMPARE(lists.value().unmatched.size(), std::size_t{1});
    }

    void whatIsNoneOfItIsAnErrorWithItsLine_data()
    {
        QTest::addColumn<int>("origin");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("where");
        const int converter = static_cast<int>(ListOrigin::OnnxConverter);
        QTest::newRow("empty") << converter << QByteArray() << QByteArray();
        QTest::newRow("another program's")
            << static_cast<int>(ListOrigin::Tvm) << QByteArray("op_block_list=['Exp']") << QByteArray();
        QTest::newRow("unknown variable")
            << converter << QByteArray("\nop_block_list = MY_OPS") << QByteArray("line 2");
        QTest::newRow("unknown part")
            << converter << QByteArray("op_block_list = ['Exp'] + MY_OPS") << QByteArray("line 1");
        QTest::newRow("call") << converter << QByteArray("op_block_list = load('x')") << QByteArray("line 1");
        QTest::newRow("open list") << converter << QByteArray("\n\nop_block_list = ['Exp',")
                                   << QByteArray("line 3");
        QTest::newRow("open text") << converter << QByteArray("op_block_list = ['Exp]\n")
                                   << QByteArray("line 1");
        QTest::newRow("numbers") << converter << QByteArray("op_block_list = [1, 2]") << QByteArray("line 1");
        QTest::newRow("type") << static_cast<int>(ListOrigin::ModelOpt)
                              << QByteArray("low_precision_type='int4'") << QByteArray();
    }
    void whatIsNoneOfItIsAnErrorWithItsLine()
    {
        QFETCH(int, origin);
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, where);
        const auto lists = read(static_cast<ListOrigin>(origin), text.toStdString());
        QVERIFY(!lists.ok());
        QCOMPARE(QByteArray::fromStdString(lists.error().where), where);
        QVERIFY(!lists.error().found.empty());
    }

    void anyBytesEnd()
    {
        const std::string text
            = "op_block_list = ['Exp', r\"a\\\"] + set((\"x\", 'y'))\n--op_types_to_exclude a=b 'c";
        for (const ListOrigin origin : policy::kListOrigins) {
            for (std::size_t size = 0; size < text.size(); ++size) {
                (void)read(origin, text.substr(0, size)).ok();
                std::string damaged = text;
                damaged[size] = static_cast<char>(damaged[size] ^ 0x15);
                (void)read(origin, damaged).ok();
            }
        }
        (void)read(ListOrigin::OnnxConverter, "op_block_list=" + std::string(100'000, '[')).ok();
    }
};

QTEST_APPLESS_MAIN(TestImportLists)
#include "tst_import_lists.moc"
