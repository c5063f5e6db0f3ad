#include "core/base/text.h"
#include "core/dialect/onnx/operator_rows.h"

#include <array>

/// Recurrence, attention and spectra.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;
using ops::Recurrence;
using Function = Recurrence::Function;

/// A function as ONNX names it, with its defaults and which of the two parameters it takes.
struct FunctionRow
{
    std::string_view name;
    Function::Kind kind;
    double alpha = 0;
    double beta = 0;
    bool takesAlpha = false;
    bool takesBeta = false;
};

// clang-format off
constexpr std::array kFunctions{
    FunctionRow{"tanh", Function::Kind::Tanh},
    FunctionRow{"relu", Function::Kind::Relu},
    FunctionRow{"sigmoid", Function::Kind::Sigmoid},
    FunctionRow{"affine", Function::Kind::Affine, 1, 0, true, true},
    FunctionRow{"leakyrelu", Function::Kind::LeakyRelu, 0.01, 0, true, false},
    FunctionRow{"thresholdedrelu", Function::Kind::ThresholdedRelu, 1, 0, true, false},
    FunctionRow{"scaledtanh", Function::Kind::ScaledTanh, 1, 1, true, true},
    FunctionRow{"hardsigmoid", Function::Kind::HardSigmoid, 0.2, 0.5, true, true},
    FunctionRow{"elu", Function::Kind::Elu, 1, 0, true, false},
    FunctionRow{"softsign", Function::Kind::Softsign},
    FunctionRow{"softplus", Function::Kind::Softplus},
};
// clang-format on

/// Names in any case; parameters go in turn to those that take one.
std::vector<Function> readFunctions(NodeReader &in, std::vector<std::string> names)
{
    const std::vector<double> alphas = in.reals("activation_alpha");
    const std::vector<double> betas = in.reals("activation_beta");
    auto alpha = alphas.begin();
    auto beta = betas.begin();
    std::vector<Function> functions;
    for (std::string &name : names) {
        name = lowerCase(name);
        const auto row = std::ranges::find(kFunctions, std::string_view(name), &FunctionRow::name);
        if (row == kFunctions.end()) {
            in.fail("activations", name, "an activation of recurrent layers");
            return functions;
        }
        Function function{row->kind, row->alpha, row->beta};
        if (row->takesAlpha && alpha != alphas.end())
            function.alpha = *alpha++;
        if (row->takesBeta && beta != betas.end())
            function.beta = *beta++;
        functions.push_back(function);
    }
    return functions;
}

template <Recurrence::Cell cell>
Operator recurrence(NodeReader &in)
{
    static constexpr std::array<std::string_view, 3> kDirections{"forward", "reverse", "bidirectional"};
    static constexpr std::array kOfThem{Recurrence::Direction::Forward, Recurrence::Direction::Reverse,
                                        Recurrence::Direction::Both};
    Recurrence op;
    op.cell = cell;
    op.direction = kOfThem[in.choice("direction", kDirections)];
    // The schema's defaults are those of two directions.
    std::vector<std::string> names
        = in.has("activations") ? in.texts("activations") : std::vector<std::string>();
    if (names.empty()) {
        const std::vector<std::string> defaults = cell == Recurrence::Cell::Plain
            ? std::vector<std::string>{"tanh"}
            : cell == Recurrence::Cell::Gru ? std::vector<std::string>{"sigmoid", "tanh"}
                                            : std::vector<std::string>{"sigmoid", "tanh", "tanh"};
        for (std::int64_t k = 0; k < op.directions(); ++k)
            names.insert(names.end(), defaults.begin(), defaults.end());
    }
    op.functions = readFunctions(in, std::move(names));
    op.hiddenSize = in.integer("hidden_size", 0);
    if (op.hiddenSize == 0)
        if (const tensor::Shape *weights = in.shape(2); weights && weights->rank() == 3)
            op.hiddenSize = (*weights)[2];
    op.clip = in.optionalReal("clip");
    op.couplesForget = in.boolean("input_forget");
    op.linearBeforeReset = in.boolean("linear_before_reset");
    op.batchFirst = in.boolean("layout");
    op.hasBias = in.hasInput(3);
    op.hasLengths = in.hasInput(4);
    op.hasHidden = in.hasInput(5);
    op.hasCell = in.hasInput(6);
    op.hasPeepholes = in.hasInput(7);
    return op;
}

/// Its weights lie the other way round, and have scales and zero points.
Operator recurrenceOfCodes(NodeReader &in)
{
    constexpr std::size_t kFirstScale = 8;
    auto op = recurrence<Recurrence::Cell::Lstm>(in).as<Recurrence>();
    op.hasCodes = true;
    if (in.integer("hidden_size") == 0)
        if (const tensor::Shape *recurrent = in.shape(2); recurrent && recurrent->rank() == 3)
            op.hiddenSize = (*recurrent)[1];
    for (std::size_t slot = kFirstScale; slot < kFirstScale + 4; ++slot)
        if (!in.hasInput(slot))
            in.fail("input " + std::to_string(slot), "not given", "scales and zero points of W and R");
    return op;
}

/// The keys on one side that a query sees; -1: all.
std::optional<std::int64_t> windowSide(NodeReader &in, std::string_view key)
{
    const std::int64_t size = in.integer(key, -1);
    if (size < -1)
        in.fail(key, std::to_string(size), "-1 or more");
    return size < 0 ? std::nullopt : std::optional(size);
}

Operator attention(NodeReader &in)
{
    using Shows = ops::Attention::Shows;
    static constexpr std::array kShows{Shows::Products, Shows::Capped, Shows::Masked, Shows::Weights};
    constexpr int kOpsetOfPaddedMasks = 24;
    ops::Attention op;
    const std::int64_t shows = in.integer("qk_matmul_output_mode", 0);
    if (shows < 0 || shows > 3)
        in.fail("qk_matmul_output_mode", std::to_string(shows), "0 to 3");
    else
        op.shows = kShows[static_cast<std::size_t>(shows)];
    op.queryHeads = in.integer("q_num_heads", 0);
    op.keyHeads = in.integer("kv_num_heads", 0);
    op.scale = in.optionalReal("scale");
    op.cap = in.real("softcap");
    op.causal = in.boolean("is_causal");
    op.left = windowSide(in, "left_window_size");
    op.right = windowSide(in, "right_window_size");
    op.softmaxType = in.type("softmax_precision");
    op.padsMask = in.opset() >= kOpsetOfPaddedMasks;
    op.hasMask = in.hasInput(3);
    op.hasPast = in.hasInput(4);
    op.hasLengths = in.hasInput(6);
    if (in.hasInput(4) != in.hasInput(5))
        in.fail(in.hasInput(4) ? "past_value" : "past_key", "not given",
                "both past_key and past_value, or neither");
    else if (op.hasPast && op.hasLengths)
        in.fail("nonpad_kv_seqlen", "given together with past_key and past_value", "only one of them");
    return op;
}

Operator rotaryEmbedding(NodeReader &in)
{
    return ops::RotaryEmbedding{in.boolean("interleaved"), in.integer("rotary_embedding_dim", 0),
                                in.integer("num_heads", 0), in.hasInput(3)};
}

/// The axis became an input with opset 20, and counts from the end where it is not given.
Operator dft(NodeReader &in)
{
    ops::DFT op;
    const bool isOld = in.opset() < 20 || in.has("axis"); // of an older opset until it is written
    op.axis = isOld ? in.integer("axis", 1) : in.optionalIntegerAt(2).value_or(-2);
    op.inverse = in.boolean("inverse");
    op.onesided = in.boolean("onesided");
    op.length = in.optionalIntegerAt(1);
    return op;
}

Operator stft(NodeReader &in)
{
    ops::STFT op;
    op.step = in.optionalIntegerAt(1).value_or(1);
    op.onesided = in.boolean("onesided", true);
    op.windowInput = in.position(2);
    if (in.hasInput(3))
        op.length = in.optionalIntegerAt(3).value_or(0);
    else if (const tensor::Shape *window = in.shape(2))
        op.length = window->elementCount().value_or(0);
    return op;
}

} // namespace

std::span<const OperatorRow> speechRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"RNN", recurrence<Recurrence::Cell::Plain>},
        OperatorRow{"GRU", recurrence<Recurrence::Cell::Gru>},
        OperatorRow{"LSTM", recurrence<Recurrence::Cell::Lstm>},
        OperatorRow{"com.microsoft.DynamicQuantizeLSTM", recurrenceOfCodes},
        OperatorRow{"Attention", attention},
        OperatorRow{"RotaryEmbedding", rotaryEmbedding},
        OperatorRow{"DFT", dft},
        OperatorRow{"STFT", stft},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
