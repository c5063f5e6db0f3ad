#include "core/dialect/mxnet/operator_rows.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace halftone::dialect::mxnet {
namespace {

using namespace ops;

// clang-format off
std::vector<OperatorRow> unaryRows()
{
    return {
    {"_copy", Unary{UnaryKind::Identity}},
    {"BlockGrad", Unary{UnaryKind::StopGradient}},
    {"make_loss", Unary{UnaryKind::MakeLoss}},
    {"zeros_like", Unary{UnaryKind::ZerosLike}},
    {"ones_like", Unary{UnaryKind::OnesLike}},
    {"abs", Unary{UnaryKind::Abs}},
    {"negative", Unary{UnaryKind::Negative}},
    {"sign", Unary{UnaryKind::Sign}},
    {"relu", Unary{UnaryKind::Relu}},
    {"ceil", Unary{UnaryKind::Ceil}},
    {"floor", Unary{UnaryKind::Floor}},
    {"fix", Unary{UnaryKind::Fix}},
    {"rint", Unary{UnaryKind::Rint}},
    {"round", Unary{UnaryKind::Round}},
    {"trunc", Unary{UnaryKind::Trunc}},
    {"logical_not", Unary{UnaryKind::LogicalNot}},
    {"sigmoid", Unary{UnaryKind::Sigmoid}},
    {"softsign", Unary{UnaryKind::Softsign}},
    {"tanh", Unary{UnaryKind::Tanh}},
    {"erf", Unary{UnaryKind::Erf}},
    {"erfinv", Unary{UnaryKind::ErfInv}},
    {"exp", Unary{UnaryKind::Exp}},
    {"expm1", Unary{UnaryKind::Expm1}},
    {"log", Unary{UnaryKind::Log}},
    {"log10", Unary{UnaryKind::Log10}},
    {"log1p", Unary{UnaryKind::Log1p}},
    {"log2", Unary{UnaryKind::Log2}},
    {"square", Unary{UnaryKind::Square}},
    {"sqrt", Unary{UnaryKind::Sqrt}},
    {"rsqrt", Unary{UnaryKind::Rsqrt}},
    {"cbrt", Unary{UnaryKind::Cbrt}},
    {"rcbrt", Unary{UnaryKind::Rcbrt}},
    {"reciprocal", Unary{UnaryKind::Reciprocal}},
    {"gamma", Unary{UnaryKind::Gamma}},
    {"gammaln", Unary{UnaryKind::GammaLn}},
    {"sin", Unary{UnaryKind::Sin}},
    {"cos", Unary{UnaryKind::Cos}},
    {"tan", Unary{UnaryKind::Tan}},
    {"arcsin", Unary{UnaryKind::Arcsin}},
    {"arccos", Unary{UnaryKind::Arccos}},
    {"arctan", Unary{UnaryKind::Arctan}},
    {"sinh", Unary{UnaryKind::Sinh}},
    {"cosh", Unary{UnaryKind::Cosh}},
    {"arcsinh", Unary{UnaryKind::Arcsinh}},
    {"arccosh", Unary{UnaryKind::Arccosh}},
    {"arctanh", Unary{UnaryKind::Arctanh}},
    {"degrees", Unary{UnaryKind::Degrees}},
    {"radians", Unary{UnaryKind::Radians}},
    {"_contrib_div_sqrt_dim", Unary{UnaryKind::DivideBySqrtDim}},
    };
}

std::vector<OperatorRow> binaryRows()
{
    return {
    {"elemwise_add", Binary{BinaryKind::Add}},
    {"elemwise_sub", Binary{BinaryKind::Sub}},
    {"elemwise_mul", Binary{BinaryKind::Mul}},
    {"elemwise_div", Binary{BinaryKind::Div}},
    {"_grad_add", Binary{BinaryKind::Add}},
    {"_mod", Binary{BinaryKind::Mod}},
    {"_power", Binary{BinaryKind::Power}},
    {"_maximum", Binary{BinaryKind::Maximum}},
    {"_minimum", Binary{BinaryKind::Minimum}},
    {"_hypot", Binary{BinaryKind::Hypot}},
    {"_equal", Binary{BinaryKind::Equal}},
    {"_not_equal", Binary{BinaryKind::NotEqual}},
    {"_greater", Binary{BinaryKind::Greater}},
    {"_greater_equal", Binary{BinaryKind::GreaterEqual}},
    {"_lesser", Binary{BinaryKind::Lesser}},
    {"_lesser_equal", Binary{BinaryKind::LesserEqual}},
    {"_logical_and", Binary{BinaryKind::LogicalAnd}},
    {"_logical_or", Binary{BinaryKind::LogicalOr}},
    {"_logical_xor", Binary{BinaryKind::LogicalXor}},
    {"broadcast_add", Binary{BinaryKind::Add, true}},
    {"broadcast_sub", Binary{BinaryKind::Sub, true}},
    {"broadcast_mul", Binary{BinaryKind::Mul, true}},
    {"broadcast_div", Binary{BinaryKind::Div, true}},
    {"broadcast_mod", Binary{BinaryKind::Mod, true}},
    {"broadcast_power", Binary{BinaryKind::Power, true}},
    {"broadcast_maximum", Binary{BinaryKind::Maximum, true}},
    {"broadcast_minimum", Binary{BinaryKind::Minimum, true}},
    {"broadcast_hypot", Binary{BinaryKind::Hypot, true}},
    {"broadcast_equal", Binary{BinaryKind::Equal, true}},
    {"broadcast_not_equal", Binary{BinaryKind::NotEqual, true}},
    {"broadcast_greater", Binary{BinaryKind::Greater, true}},
    {"broadcast_greater_equal", Binary{BinaryKind::GreaterEqual, true}},
    {"broadcast_lesser", Binary{BinaryKind::Lesser, true}},
    {"broadcast_lesser_equal", Binary{BinaryKind::LesserEqual, true}},
    {"broadcast_logical_and", Binary{BinaryKind::LogicalAnd, true}},
    {"broadcast_logical_or", Binary{BinaryKind::LogicalOr, true}},
    {"broadcast_logical_xor", Binary{BinaryKind::LogicalXor, true}},
    };
}

std::vector<OperatorRow> scalarRows()
{
    return {
    {"_plus_scalar", ScalarBinary{BinaryKind::Add}},
    {"_minus_scalar", ScalarBinary{BinaryKind::Sub}},
    {"_rminus_scalar", ScalarBinary{BinaryKind::Sub, true}},
    {"_mul_scalar", ScalarBinary{BinaryKind::Mul}},
    {"_div_scalar", ScalarBinary{BinaryKind::Div}},
    {"_rdiv_scalar", ScalarBinary{BinaryKind::Div, true}},
    {"_mod_scalar", ScalarBinary{BinaryKind::Mod}},
    {"_rmod_scalar", ScalarBinary{BinaryKind::Mod, true}},
    {"_power_scalar", ScalarBinary{BinaryKind::Power}},
    {"_rpower_scalar", ScalarBinary{BinaryKind::Power, true}},
    {"_maximum_scalar", ScalarBinary{BinaryKind::Maximum}},
    {"_minimum_scalar", ScalarBinary{BinaryKind::Minimum}},
    {"_hypot_scalar", ScalarBinary{BinaryKind::Hypot}},
    {"_equal_scalar", ScalarBinary{BinaryKind::Equal}},
    {"_not_equal_scalar", ScalarBinary{BinaryKind::NotEqual}},
    {"_greater_scalar", ScalarBinary{BinaryKind::Greater}},
    {"_greater_equal_scalar", ScalarBinary{BinaryKind::GreaterEqual}},
    {"_lesser_scalar", ScalarBinary{BinaryKind::Lesser}},
    {"_lesser_equal_scalar", ScalarBinary{BinaryKind::LesserEqual}},
    {"_logical_and_scalar", ScalarBinary{BinaryKind::LogicalAnd}},
    {"_logical_or_scalar", ScalarBinary{BinaryKind::LogicalOr}},
    {"_logical_xor_scalar", ScalarBinary{BinaryKind::LogicalXor}},
    };
}

std::vector<OperatorRow> activationRows()
{
    return {
    {"Activation", Activation{}},
    {"LeakyReLU", LeakyRelu{}},
    {"clip", Clip{}},
    {"hard_sigmoid", HardSigmoid{}},
    {"smooth_l1", SmoothL1{}},
    {"add_n", AddN{}},
    {"where", Where{}},
    {"Dropout", Dropout{}},
    {"Cast", Cast{}},
    {"amp_cast", Cast{.floatsOnly = true}},
    {"amp_multicast", MultiCast{}},
    };
}

std::vector<OperatorRow> layerRows()
{
    return {
    {"Convolution", Conv{}},
    {"Convolution_v1", Conv{}},
    {"Deconvolution", Deconv{}},
    {"FullyConnected", FullyConnected{}},
    {"dot", MatMul{MatMul::Form::Dot}},
    {"batch_dot", MatMul{MatMul::Form::Batched}},
    {"_linalg_gemm2", Gemm{}},
    {"_linalg_gemm", Gemm{.hasAddend = true}},
    {"_contrib_interleaved_matmul_selfatt_qk", AttentionProduct{AttentionProduct::Kind::SelfScores}},
    {"_contrib_interleaved_matmul_selfatt_valatt", AttentionProduct{AttentionProduct::Kind::SelfValues}},
    {"_contrib_interleaved_matmul_encdec_qk", AttentionProduct{AttentionProduct::Kind::CrossScores}},
    {"_contrib_interleaved_matmul_encdec_valatt", AttentionProduct{AttentionProduct::Kind::CrossValues}},
    {"Embedding", Embedding{}},
    {"_contrib_SparseEmbedding", Embedding{}},
    {"RNN", Rnn{}},
    {"BatchNorm", BatchNorm{}},
    {"BatchNorm_v1", BatchNorm{}},
    {"_contrib_SyncBatchNorm", BatchNorm{.isSynchronized = true}},
    {"LayerNorm", LayerNorm{}},
    {"GroupNorm", GroupNorm{}},
    {"InstanceNorm", InstanceNorm{}},
    {"L2Normalization", L2Normalization{}},
    {"LRN", Lrn{}},
    {"Pooling", Pool{}},
    {"Pooling_v1", Pool{}},
    {"_contrib_AdaptiveAvgPooling2D", AdaptiveAveragePool{}},
    {"UpSampling", Upsample{}},
    {"_contrib_BilinearResize2D", Resize{}},
    {"Crop", Crop{}},
    {"ROIPooling", RoiPool{RoiPool::Kind::Max}},
    {"_contrib_ROIAlign", RoiPool{RoiPool::Kind::Align}},
    {"_contrib_MultiBoxPrior", BoxPrior{}},
    {"_contrib_MultiBoxDetection", BoxDetection{}},
    {"_contrib_MultiBoxTarget", BoxTarget{}},
    {"_contrib_box_nms", BoxNms{}},
    {"_contrib_box_iou", BoxIou{}},
    {"_foreach", ControlFlow{ControlFlow::Kind::ForEach}},
    {"_while_loop", ControlFlow{ControlFlow::Kind::WhileLoop}},
    {"_cond", ControlFlow{ControlFlow::Kind::Cond}},
    };
}

Reduce reduction(Reduce::Kind kind)
{
    return {.kind = kind, .atLeastRank1 = true};
}

std::vector<OperatorRow> reductionRows()
{
    return {
    {"sum", reduction(Reduce::Kind::Sum)},
    {"mean", reduction(Reduce::Kind::Mean)},
    {"max", reduction(Reduce::Kind::Max)},
    {"min", reduction(Reduce::Kind::Min)},
    {"prod", reduction(Reduce::Kind::Prod)},
    {"nansum", reduction(Reduce::Kind::NanSum)},
    {"nanprod", reduction(Reduce::Kind::NanProd)},
    {"norm", reduction(Reduce::Kind::L2)},
    {"moments", Moments{.atLeastRank1 = true}},
    {"argmax", ArgReduce{.atLeastRank1 = true}},
    {"argmin", ArgReduce{.smallest = true, .atLeastRank1 = true}},
    {"argmax_channel", ArgReduce{.atLeastRank1 = true, .perRow = true}},
    {"softmax", Softmax{Softmax::Kind::Softmax}},
    {"log_softmax", Softmax{Softmax::Kind::LogSoftmax}},
    {"softmin", Softmax{Softmax::Kind::Softmin}},
    {"SoftmaxActivation", SoftmaxActivation{}},
    {"SoftmaxOutput", SoftmaxOutput{}},
    {"LinearRegressionOutput", RegressionOutput{RegressionOutput::Kind::Linear}},
    {"LogisticRegressionOutput", RegressionOutput{RegressionOutput::Kind::Logistic}},
    {"MAERegressionOutput", RegressionOutput{RegressionOutput::Kind::MeanAbsolute}},
    {"MakeLoss", LossOutput{}},
    {"softmax_cross_entropy", SoftmaxCrossEntropy{}},
    {"topk", TopK{}},
    {"sort", Sort{}},
    {"argsort", ArgSort{}},
    };
}

std::vector<OperatorRow> movementRows()
{
    return {
    {"Concat", Concat{}},
    {"_rnn_param_concat", Concat{.rnnParameters = true}},
    {"stack", Stack{}},
    {"SliceChannel", Split{}},
    {"_split_v2", Split{.uneven = true}},
    {"Reshape", Reshape{}},
    {"Flatten", Flatten{}},
    {"expand_dims", ExpandDims{}},
    {"squeeze", Squeeze{.axes = {}, .atLeastRank1 = true}},
    {"transpose", Transpose{}},
    {"SwapAxis", SwapAxes{}},
    {"slice", Slice{}},
    {"slice_axis", SliceAxis{}},
    {"slice_like", SliceLike{}},
    {"Pad", Pad{}},
    {"tile", Tile{}},
    {"repeat", Repeat{}},
    {"reverse", Reverse{}},
    {"broadcast_to", BroadcastTo{}},
    {"broadcast_axis", BroadcastAxes{}},
    {"broadcast_like", BroadcastLike{}},
    {"reshape_like", ReshapeLike{}},
    {"depth_to_space", DepthToSpace{}},
    {"space_to_depth", SpaceToDepth{}},
    {"take", Take{}},
    {"gather_nd", GatherNd{}},
    {"scatter_nd", ScatterNd{}},
    {"pick", Pick{}},
    {"batch_take", BatchTake{}},
    {"one_hot", OneHot{}},
    {"SequenceMask", Sequence{Sequence::Kind::Mask}},
    {"SequenceLast", Sequence{Sequence::Kind::Last}},
    {"SequenceReverse", Sequence{Sequence::Kind::Reverse}},
    {"shape_array", ShapeOf{}},
    {"size_array", ShapeOf{.count = true}},
    {"_zeros", Fill{Fill::Kind::Zeros}},
    {"_ones", Fill{Fill::Kind::Ones}},
    {"_full", Fill{Fill::Kind::Value}},
    {"_arange", Range{}},
    {"_contrib_arange_like", RangeLike{}},
    };
}
// clang-format on

std::vector<OperatorRow> allRows()
{
    std::vector<OperatorRow> rows;
    for (auto *part :
         {layerRows, unaryRows, binaryRows, scalarRows, activationRows, reductionRows, movementRows})
        std::ranges::move(part(), std::back_inserter(rows));
    return rows;
}

// What the operator's name decides and no attribute does: structs of one type that differ in it are different
// operators.
template <class T>
auto named(const T &)
{
    return std::tuple<>();
}
// clang-format off
auto named(const ControlFlow &op) { return op.kind; }
auto named(const MatMul &op) { return op.form; }
auto named(const Gemm &op) { return op.hasAddend; }
auto named(const AttentionProduct &op) { return op.kind; }
auto named(const BatchNorm &op) { return op.isSynchronized; }
auto named(const RoiPool &op) { return op.kind; }
auto named(const Unary &op) { return op.kind; }
auto named(const Binary &op) { return std::tuple(op.kind, op.broadcast); }
auto named(const ScalarBinary &op) { return std::tuple(op.kind, op.reversed); }
auto named(const Cast &op) { return op.floatsOnly; }
auto named(const Moments &op) { return op.atLeastRank1; }
auto named(const ArgReduce &op) { return std::tuple(op.smallest, op.perRow, op.atLeastRank1); }
auto named(const Softmax &op) { return op.kind; }
auto named(const RegressionOutput &op) { return op.kind; }
auto named(const Concat &op) { return op.rnnParameters; }
auto named(const Split &op) { return op.uneven; }
auto named(const Squeeze &op) { return op.atLeastRank1; }
auto named(const Sequence &op) { return op.kind; }
auto named(const ShapeOf &op) { return op.count; }
auto named(const Fill &op) { return op.kind; }
// clang-format on
auto named(const Reduce &op)
{
    // Both norms are one operator, whose attribute tells them apart.
    return std::tuple(op.kind == Reduce::Kind::L1 ? Reduce::Kind::L2 : op.kind, op.atLeastRank1);
}

bool sameName(const Operator &a, const Operator &b)
{
    return a.index() == b.index()
        && std::visit(
               [&b](const auto &own) {
                   return named(own) == named(*std::get_if<std::remove_cvref_t<decltype(own)>>(&b));
               },
               a);
}

} // namespace

std::span<const OperatorRow> operatorRows()
{
    static const std::vector<OperatorRow> kRows = allRows();
    return kRows;
}

const OperatorRow *findRow(std::string_view name)
{
    static const auto kByName = [] {
        std::unordered_map<std::string_view, const OperatorRow *> index;
        for (const OperatorRow &row : operatorRows())
            index.emplace(row.name, &row);
        return index;
    }();
    const auto at = kByName.find(name);
    return at == kByName.end() ? nullptr : at->second;
}

const OperatorRow *rowFor(const Operator &op)
{
    const auto at = std::ranges::find_if(
        operatorRows(), [&op](const OperatorRow &row) { return sameName(row.prototype, op); });
    return at == operatorRows().end() ? nullptr : &*at;
}

} // namespace halftone::dialect::mxnet
