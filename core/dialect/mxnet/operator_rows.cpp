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
    // Forward they are what their gradients make believe they are not; storage is no matter of values.
    {"_contrib_round_ste", Unary{UnaryKind::Round}},
    {"_contrib_sign_ste", Unary{UnaryKind::Sign}},
    {"_contrib_gradientmultiplier", Unary{UnaryKind::Identity}},
    {"cast_storage", Unary{UnaryKind::Identity}},
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
    {"_scatter_elemwise_div", Binary{BinaryKind::Div}},
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
    {"_scatter_plus_scalar", ScalarBinary{BinaryKind::Add}},
    {"_scatter_minus_scalar", ScalarBinary{BinaryKind::Sub}},
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
    {"add_n", Join{}},
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
    {"Deconvolution", ConvTranspose{}},
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
    {"RNN", Recurrence{.stack = Recurrence::Stack{}}},
    {"BatchNorm", BatchNormalization{}},
    {"BatchNorm_v1", BatchNormalization{}},
    {"_contrib_SyncBatchNorm", BatchNormalization{}},
    {"LayerNorm", LayerNormalization{.oneAxis = true}},
    {"GroupNorm", GroupNormalization{}},
    {"InstanceNorm", InstanceNormalization{}},
    {"L2Normalization", LpNormalization{.toEnd = true, .epsilon = 1e-10}},
    {"LRN", LRN{}},
    {"Pooling", Pool{}},
    {"Pooling_v1", Pool{.padsZeros = true}},
    {"_contrib_AdaptiveAvgPooling2D", AdaptiveAveragePool{}},
    {"UpSampling", Upsample{}},
    {"_contrib_BilinearResize2D", BilinearResize{}},
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
    {"expand_dims", Unsqueeze{}},
    {"squeeze", Squeeze{.axes = {}, .atLeastRank1 = true}},
    {"transpose", Transpose{}},
    {"SwapAxis", SwapAxes{}},
    {"slice", Slice{}},
    {"slice_axis", Slice{.isInside = true}},
    {"slice_like", SliceLike{}},
    {"Pad", Pad{}},
    {"tile", Tile{}},
    {"repeat", Repeat{}},
    {"reverse", Reverse{}},
    {"broadcast_to", Expand{.keepsRank = true}},
    {"broadcast_axis", BroadcastAxes{}},
    {"broadcast_like", BroadcastLike{}},
    {"reshape_like", ReshapeLike{}},
    {"depth_to_space", DepthToSpace{}},
    {"space_to_depth", SpaceToDepth{}},
    {"take", Gather{}},
    {"gather_nd", GatherND{.byRows = true}},
    {"scatter_nd", ScatterIntoZeros{}},
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
std::vector<OperatorRow> regionRows()
{
    return {
    {"_contrib_box_decode", BoxDecode{}},
    {"_contrib_box_encode", BoxEncode{}},
    {"_contrib_bipartite_matching", BoxMatch{}},
    {"_contrib_Proposal", Proposal{}},
    {"_contrib_MultiProposal", Proposal{.perPicture = true}},
    {"_contrib_PSROIPooling", PositionPool{}},
    {"_contrib_DeformablePSROIPooling", PositionPool{.deformable = true}},
    {"_contrib_RROIAlign", RotatedRoiAlign{}},
    {"_contrib_DeformableConvolution", DeformConv{}},
    {"_contrib_ModulatedDeformableConvolution", DeformConv{.modulated = true}},
    {"im2col", Unfold{}},
    {"col2im", Col2Im{}},
    {"Correlation", Correlation{}},
    {"GridGenerator", SamplingGrid{}},
    {"BilinearSampler", GridSample{.alignCorners = true, .axesFirst = true, .spreadsNaN = true}},
    {"SpatialTransformer", SpatialTransformer{}},
    {"_image_to_tensor", Picture{Picture::Kind::ToTensor}},
    {"_image_normalize", Picture{Picture::Kind::Normalize}},
    {"_image_resize", Picture{Picture::Kind::Resize}},
    {"_image_crop", Picture{Picture::Kind::Crop}},
    {"_image_flip_left_right", Picture{Picture::Kind::FlipLeftRight}},
    {"_image_flip_top_bottom", Picture{Picture::Kind::FlipTopBottom}},
    };
}

LinearAlgebra algebra(LinearAlgebra::Kind kind)
{
    return {.kind = kind};
}

std::vector<OperatorRow> algebraRows()
{
    using Kind = LinearAlgebra::Kind;
    return {
    {"_linalg_potrf", algebra(Kind::Cholesky)},
    {"_linalg_potri", algebra(Kind::CholeskyInverse)},
    {"_linalg_inverse", algebra(Kind::Inverse)},
    {"_linalg_det", algebra(Kind::Determinant)},
    {"_linalg_slogdet", algebra(Kind::LogDeterminant)},
    {"_linalg_sumlogdiag", algebra(Kind::LogDiagonalSum)},
    {"_linalg_gelqf", algebra(Kind::LowerOrthogonal)},
    {"_linalg_syevd", algebra(Kind::SymmetricEigen)},
    {"_linalg_syrk", algebra(Kind::Symmetric)},
    {"_linalg_trmm", algebra(Kind::TriangularProduct)},
    {"_linalg_trsm", algebra(Kind::TriangularSolve)},
    {"_linalg_extractdiag", algebra(Kind::ExtractDiagonal)},
    {"_linalg_makediag", algebra(Kind::MakeDiagonal)},
    {"_linalg_extracttrian", algebra(Kind::ExtractTriangle)},
    {"_linalg_maketrian", algebra(Kind::MakeTriangle)},
    {"khatri_rao", ColumnKronecker{}},
    {"_contrib_fft", DFT{.pairsInAxis = true}},
    {"_contrib_ifft", DFT{.inverse = true, .pairsInAxis = true}},
    };
}

std::vector<OperatorRow> placeRows()
{
    return {
    {"_contrib_index_copy", IndexCopy{}},
    {"_contrib_boolean_mask", Compress{.needsAll = true}},
    {"_slice_assign", SliceAssign{}},
    {"_slice_assign_scalar", SliceAssign{.isScalar = true}},
    {"_scatter_set_nd", ScatterAssign{}},
    {"_contrib_index_array", IndexArray{}},
    {"diag", Diagonal{}},
    {"_ravel_multi_index", FlatIndex{}},
    {"_unravel_index", FlatIndex{.unravel = true}},
    {"_histogram", Histogram{}},
    {"_np_cumsum", CumSum{}},
    {"_eye", EyeLike{.hasInput = false}},
    {"_linspace", Linspace{}},
    {"_contrib_quadratic", Quadratic{}},
    {"all_finite", AllFinite{}},
    {"multi_all_finite", AllFinite{.several = true}},
    {"CTCLoss", CtcLoss{}},
    {"SVMOutput", SvmOutput{}},
    {"IdentityAttachKLSparseReg", SparsityPenalty{}},
    };
}

std::vector<OperatorRow> randomRows()
{
    using D = Distribution;
    return {
    {"_random_uniform", Random{.distribution = D::Uniform}},
    {"_random_normal", Random{.distribution = D::Normal}},
    {"_random_gamma", Random{.distribution = D::Gamma}},
    {"_random_exponential", Random{.distribution = D::Exponential}},
    {"_random_poisson", Random{.distribution = D::Poisson}},
    {"_random_negative_binomial", Random{.distribution = D::NegativeBinomial}},
    {"_random_generalized_negative_binomial", Random{.distribution = D::GeneralizedNegativeBinomial}},
    {"_random_randint", Random{.distribution = D::Integer}},
    {"_random_uniform_like", Random{.distribution = D::Uniform, .like = true}},
    {"_random_normal_like", Random{.distribution = D::Normal, .like = true}},
    {"_random_gamma_like", Random{.distribution = D::Gamma, .like = true}},
    {"_random_exponential_like", Random{.distribution = D::Exponential, .like = true}},
    {"_random_poisson_like", Random{.distribution = D::Poisson, .like = true}},
    {"_random_negative_binomial_like", Random{.distribution = D::NegativeBinomial, .like = true}},
    {"_random_generalized_negative_binomial_like", Random{.distribution = D::GeneralizedNegativeBinomial, .like = true}},
    {"_sample_uniform", RandomSample{D::Uniform}},
    {"_sample_normal", RandomSample{D::Normal}},
    {"_sample_gamma", RandomSample{D::Gamma}},
    {"_sample_exponential", RandomSample{D::Exponential}},
    {"_sample_poisson", RandomSample{D::Poisson}},
    {"_sample_negative_binomial", RandomSample{D::NegativeBinomial}},
    {"_sample_generalized_negative_binomial", RandomSample{D::GeneralizedNegativeBinomial}},
    {"_sample_multinomial", Multinomial{}},
    {"_random_pdf_uniform", Density{D::Uniform}},
    {"_random_pdf_normal", Density{D::Normal}},
    {"_random_pdf_gamma", Density{D::Gamma}},
    {"_random_pdf_exponential", Density{D::Exponential}},
    {"_random_pdf_poisson", Density{D::Poisson}},
    {"_random_pdf_negative_binomial", Density{D::NegativeBinomial}},
    {"_random_pdf_generalized_negative_binomial", Density{D::GeneralizedNegativeBinomial}},
    {"_random_pdf_dirichlet", Density{D::Dirichlet}},
    {"_shuffle", Shuffle{}},
    };
}

std::vector<OperatorRow> quantizedRows()
{
    return {
    {"_contrib_quantize_v2", Quantize{}},
    {"_contrib_quantize", Quantize{.rangeIsInput = true}},
    {"_contrib_requantize", Requantize{}},
    {"_contrib_dequantize", Dequantize{}},
    {"_contrib_quantized_conv", Quantized<Conv>{}},
    {"_contrib_quantized_fully_connected", Quantized<FullyConnected>{}},
    {"_contrib_quantized_pooling", Quantized<Pool>{}},
    {"_contrib_quantized_act", Quantized<Activation>{}},
    {"_contrib_quantized_batch_norm", Quantized<BatchNormalization>{}},
    {"_contrib_quantized_concat", Quantized<Concat>{}},
    {"_contrib_quantized_flatten", Quantized<Flatten>{}},
    {"_contrib_quantized_elemwise_add", Quantized<Binary>{Binary{BinaryKind::Add}}},
    {"_contrib_quantized_elemwise_mul", Quantized<Binary>{Binary{BinaryKind::Mul}}},
    {"_contrib_quantized_embedding", Quantized<Embedding>{}},
    {"_contrib_BatchNormWithReLU", BatchNormRelu{}},
    };
}
// clang-format on

std::vector<OperatorRow> allRows()
{
    std::vector<OperatorRow> rows;
    for (auto *part : {layerRows, unaryRows, binaryRows, scalarRows, activationRows, reductionRows,
                       movementRows, regionRows, algebraRows, placeRows, randomRows, quantizedRows})
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
auto named(const Gemm &op) { return std::tuple(op.hasAddend, op.addendStretches); }
auto named(const AttentionProduct &op) { return op.kind; }
auto named(const RoiPool &op) { return op.kind; }
auto named(const Unary &op) { return op.kind; }
auto named(const Binary &op) { return std::tuple(op.kind, op.broadcast); }
auto named(const ScalarBinary &op) { return std::tuple(op.kind, op.reversed); }
auto named(const Cast &op) { return op.floatsOnly; }
auto named(const Compress &op) { return op.needsAll; }
auto named(const Recurrence &op) { return op.stack.has_value(); }
auto named(const Moments &op) { return op.atLeastRank1; }
auto named(const ArgReduce &op) { return std::tuple(op.smallest, op.perRow, op.atLeastRank1, op.last); }
auto named(const Softmax &op) { return std::tuple(op.kind, op.flattened); }
auto named(const Flatten &op) { return op.axis; }
auto named(const LeakyRelu &op) { return op.stretches; }
auto named(const Join &op) { return std::tuple(op.kind, op.broadcast); }
auto named(const LayerNormalization &op) { return op.oneAxis; }
auto named(const LpNormalization &op) { return op.epsilon.has_value(); }
auto named(const Where &op) { return op.broadcast; }
auto named(const GroupNormalization &op) { return op.perChannel; }
auto named(const CumSum &op) { return std::tuple(op.product, op.exclusive, op.reverse); }
auto named(const Slice &op) { return std::tuple(op.isInside, op.isInside || !op.axes); }
auto named(const Expand &op) { return op.keepsRank; }
auto named(const GatherND &op) { return op.byRows; }
auto named(const OneHot &op) { return op.hasValues; }
auto named(const EyeLike &op) { return op.hasInput; }
auto named(const DepthToSpace &op) { return op.depthFirst; }
auto named(const Reshape &op) { return op.zeroIsExtent; }
auto named(const Range &op) { return op.mayBeEmpty; }
auto named(const RegressionOutput &op) { return op.kind; }
auto named(const Concat &op) { return op.rnnParameters; }
auto named(const Split &op) { return std::tuple(op.uneven, op.roundUp, op.sizes); }
auto named(const Squeeze &op) { return op.atLeastRank1; }
auto named(const Sequence &op) { return op.kind; }
auto named(const ShapeOf &op) { return std::tuple(op.count, op.isScalar, op.begin, op.end); }
auto named(const Fill &op) { return op.kind; }
auto named(const Pool &op) { return std::tuple(op.padsZeros, op.dilate, op.windowsBeginInside, op.absolute, op.indicesByColumn); }
auto named(const Proposal &op) { return op.perPicture; }
auto named(const PositionPool &op) { return op.deformable; }
auto named(const DeformConv &op) { return std::tuple(op.modulated, op.weightSecond); }
auto named(const Picture &op) { return op.kind; }
auto named(const LinearAlgebra &op) { return op.kind; }
auto named(const GridSample &op) { return std::tuple(op.mode, op.outside, op.alignCorners, op.axesFirst, op.spreadsNaN); }
auto named(const DFT &op) { return std::tuple(op.pairsInAxis, op.inverse); }
auto named(const SliceAssign &op) { return op.isScalar; }
auto named(const FlatIndex &op) { return op.unravel; }
auto named(const AllFinite &op) { return op.several; }
auto named(const Random &op) { return std::tuple(op.distribution, op.like); }
auto named(const RandomSample &op) { return op.distribution; }
auto named(const Density &op) { return op.distribution; }
auto named(const Quantize &op) { return op.rangeIsInput; }
auto named(const Quantized<Binary> &op) { return op.op.kind; }
// clang-format on
auto named(const Reduce &op)
{
    // Both norms are one operator, whose attribute tells them apart.
    return std::tuple(op.kind == Reduce::Kind::L1 ? Reduce::Kind::L2 : op.kind, op.atLeastRank1,
                      op.eachElement);
}

bool sameName(const Operator &a, const Operator &b)
{
    return a.index() == b.index()
        && visit(
               [&b](const auto &own) {
                   return named(own) == named(b.as<std::remove_cvref_t<decltype(own)>>());
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
