#include "core/backends/cuda/element_text.h"
#include "core/backends/cuda/lower.h"
#include "core/backends/cuda/spatial_text.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// Chains on codes of 8 bits: sums of whole numbers by a library or a kernel of our own, then what they stand for, step by step, with
/// every rounding that the model's operators have.
namespace halftone::backends::cuda {
namespace {

using ops::CodedChain;
using plan::PlanNode;
using tensor::DType;

/// Output channels of a chain's product, and the weight's codes summed for each.
std::vector<std::int32_t> weightSums(const Emitter &emitter, const CodedChain &chain)
{
    const tensor::Tensor &weight = *emitter.graph().values[emitter.node().inputs[1]].constant;
    const std::vector<std::int8_t> codes = weight.values<std::int8_t>();
    const bool lastCounts = chain.product == CodedChain::Product::Matrix && !chain.transposesWeight;
    const auto channels = static_cast<std::size_t>(weight.shape()[lastCounts ? 1 : 0]);
    const std::size_t depth = codes.size() / std::max<std::size_t>(channels, 1);
    std::vector<std::int32_t> sums(channels);
    for (std::size_t k = 0; k < codes.size(); ++k)
        sums[lastCounts ? k % channels : k / depth] += codes[k];
    return sums;
}

/// What stands behind a chain's sums or codes, `acc`: an epilogue over `dims`, in which `axis` counts the channels.
class ChainText
{
public:
    ChainText(Emitter &emitter, const CodedChain &chain, Dims dims, std::size_t axis)
        : m_emitter(emitter)
        , m_chain(chain)
        , m_dims(std::move(dims))
        , m_axis(axis)
    {
    }

    /// zero  what is still to be taken off the data of the sums: this many times the weight's sum
    /// see   how operands of the result's shape are seen
    template <class See>
    Result<void> write(std::int64_t zero, const See &see)
    {
        std::string real
            = m_chain.product == CodedChain::Product::None ? realText(m_chain.data, "acc") : scaledSums(zero);
        std::size_t addend = m_chain.firstAddend();
        for (const ops::CodedStep &step : m_chain.steps) {
            real = define(real);
            if (step.kind == ops::CodedStep::Kind::Function) {
                real = functionText(step.function, real);
            } else if (step.kind == ops::CodedStep::Kind::Recode) {
                real = realText(step.scale, codeText(step.scale, real));
            } else {
                HALFTONE_TRY(const Place place, m_emitter.read(m_emitter.node().inputs[addend++]));
                const std::optional<View> view = see(place.view);
                if (!view)
                    return refused("an addend of this shape");
                real += " + " + realText(step.scale, operand(*view, place.buffer));
            }
        }
        m_epilogue.expression = m_chain.result ? codeText(*m_chain.result, define(real)) : define(real);
        return {};
    }

    const Epilogue &epilogue() const { return m_epilogue; }
    const std::vector<BufferId> &buffers() const { return m_buffers; }

private:
    std::string define(const std::string &expression)
    {
        std::string name = "r" + std::to_string(m_names++);
        m_epilogue.statements += "    const float " + name + " = " + expression + ";\n";
        return name;
    }
    std::string operand(const View &view, BufferId buffer)
    {
        m_epilogue.operands.push_back(view);
        m_buffers.push_back(buffer);
        return 'e' + std::to_string(m_epilogue.operands.size() - 1);
    }
    std::string vector(DType type, BufferId buffer)
    {
        View view{type, m_dims, Dims(m_dims.size(), 0), 0};
        view.strides[m_axis] = 1;
        return operand(view, buffer);
    }

    std::string scaledSums(std::int64_t zero)
    {
        std::string sums = "acc";
        if (zero != 0) {
            std::vector<std::int32_t> off = weightSums(m_emitter, m_chain);
            for (std::int32_t &sum : off)
                sum = static_cast<std::int32_t>(sum * zero);
            sums += " - " + vector(DType::I32, m_emitter.constant(std::move(off)));
        }
        std::vector<float> steps;
        for (const float step : m_chain.weightSteps)
            steps.push_back(static_cast<float>(m_chain.data.step * double{step}));
        std::string real = "(float)(" + sums + ") * "
            + (steps.size() == 1 ? literal(double{steps[0]}, "float")
                                 : vector(DType::F32, m_emitter.constant(std::move(steps))));
        if (m_chain.hasBias) {
            const auto bias = m_emitter.read(m_emitter.node().inputs[2]);
            real += " + " + vector(DType::F32, bias.ok() ? bias.value().buffer : 0);
        }
        return real;
    }

    Emitter &m_emitter;
    const CodedChain &m_chain;
    Dims m_dims;
    std::size_t m_axis;
    Epilogue m_epilogue;
    std::vector<BufferId> m_buffers;
    std::size_t m_names = 0;
};

/// Data for a library, which takes int8 whose code for 0 is 0 beside the data: moved there, and the border written out where it is not 0.
struct SignedData
{
    Place place;
    std::int64_t zero = 0; ///< that is still in the codes
    bool isPadded = false;
};

/// `begin`, `end`  by axis: how far the border reaches
Result<SignedData> signedData(Emitter &emitter, const Place &from, const ops::CodeScale &scale,
                              const Dims &begin, const Dims &end)
{
    const std::int64_t shift = scale.type == DType::U8 ? 128 : 0;
    const std::int64_t zero = scale.zero - shift;
    const bool pads = std::ranges::any_of(begin, [](auto w) { return w > 0; })
        || std::ranges::any_of(end, [](auto w) { return w > 0; });
    const bool writesBorder = zero != 0 && pads;
    if (shift == 0 && !writesBorder)
        return SignedData{from, zero, false};
    kernels::TensorDesc desc{DType::I8, tensor::Shape(from.view.dims)};
    Dims dims = from.view.dims;
    std::string body = "    bool isInside = true;\n";
    std::string at = std::to_string(from.view.offset);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const std::int64_t before = writesBorder ? begin[axis] : 0;
        dims[axis] += before + (writesBorder ? end[axis] : 0);
        const std::string name = "d" + std::to_string(axis);
        body.append("    const long long ").append(name).append(" = c").append(std::to_string(axis));
        body.append(" - ")
            .append(std::to_string(before))
            .append(";\n    isInside = isInside && ")
            .append(name);
        body.append(" >= 0 && ").append(name).append(" < ").append(std::to_string(from.view.dims[axis]));
        body += ";\n";
        at += " + " + name + " * " + std::to_string(from.view.strides[axis]);
    }
    body += "    const long long acc = isInside ? num(p0[" + at + "]) - " + std::to_string(shift) + " : "
        + std::to_string(zero) + ";\n";
    desc.shape = tensor::Shape(dims);
    const Place to{emitter.program().addBuffer(static_cast<std::size_t>(countOf(dims))),
                   viewOf(desc, dims.size() >= 3 ? Order::ChannelsLast : Order::Plain)};
    const std::vector<DType> types{from.view.dtype};
    emitter.launch(perElement(types, to.view, body, {}, "codes to int8"), {from.buffer, to.buffer});
    return SignedData{to, zero, writesBorder};
}

/// Is a library there, and does it take this product of codes? Then it stands in the program, and its sums in the buffer.
Result<BufferId> librarySums(Emitter &emitter, const ProductDesc &desc, BufferId data, BufferId weight)
{
    HALFTONE_TRY(std::unique_ptr<Product> product, emitter.program().gpu().prepare(desc));
    const BufferId sums = emitter.program().addBuffer(static_cast<std::size_t>(countOf(desc.c.dims)) * 4);
    emitter.program().addProduct(withWork(emitter.stepOf(emitter.node()), workOf(desc)), std::move(product),
                                 {data, weight, sums});
    return sums;
}

/// What a kernel of our own for a product of codes reads and writes.
std::vector<BufferId> buffersOf(const Place &data, const Place &weight, const ChainText &rest,
                                const Place &to)
{
    std::vector<BufferId> buffers{data.buffer, weight.buffer};
    buffers.insert(buffers.end(), rest.buffers().begin(), rest.buffers().end());
    buffers.push_back(to.buffer);
    return buffers;
}

Result<void> lowerWindowChain(Emitter &emitter, const CodedChain &chain)
{
    const PlanNode &node = emitter.node();
    const ops::Conv &op = chain.conv;
    HALFTONE_TRY(const Place data, emitter.readAs(node.inputs[0], Order::ChannelsLast));
    HALFTONE_TRY(const Place weight, emitter.readAs(node.inputs[1], Order::ChannelsLast));
    SpatialText text{{}, data.view, {}, op.groups, {"int", chain.data.zero}};
    HALFTONE_TRY(text.window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    const Place to = emitter.write(node.outputs[0], Order::ChannelsLast);
    text.result = to.view;
    const auto asResult = [&to](const View &view) {
        return view.dims.size() <= to.view.dims.size() ? std::optional(stretched(view, to.view.dims))
                                                       : std::nullopt;
    };
    ChainText rest(emitter, chain, to.view.dims, 1);
    if (emitter.program().gpu().hasLibraries()) {
        Dims begin(data.view.dims.size(), 0);
        Dims end = begin;
        std::ranges::copy(text.window.padBegin, begin.begin() + 2);
        std::ranges::copy(text.window.padEnd, end.begin() + 2);
        HALFTONE_TRY(const SignedData codes, signedData(emitter, data, chain.data, begin, end));
        View sums = to.view;
        sums.dtype = DType::I32;
        ProductDesc desc{.isConvolution = true, .a = codes.place.view, .b = weight.view, .c = sums};
        desc.stride = text.window.stride;
        desc.dilate = text.window.dilate;
        desc.padBegin = codes.isPadded ? Dims(text.window.rank(), 0) : Dims(text.window.padBegin);
        desc.padEnd = codes.isPadded ? Dims(text.window.rank(), 0) : Dims(text.window.padEnd);
        desc.groups = op.groups;
        const auto buffer = librarySums(emitter, desc, codes.place.buffer, weight.buffer);
        if (buffer.ok()) {
            HALFTONE_CHECK(rest.write(codes.zero, asResult));
            finishSums(emitter, {buffer.value(), sums}, to, rest.epilogue(), rest.buffers());
            return {};
        }
        if (buffer.error().code != Errc::Unsupported)
            return buffer.error();
    }
    HALFTONE_CHECK(rest.write(0, asResult));
    const std::vector<DType> types{data.view.dtype, weight.view.dtype};
    emitter.launch(perElement(types, to.view, convolutionText(text, weight.view), rest.epilogue(),
                              "convolution of codes"),
                   buffersOf(data, weight, rest, to));
    return {};
}

/// The weight of a chain's product as (depth, columns); where a library is asked for it, the depth runs fastest.
Result<Place> matrixWeight(Emitter &emitter, const CodedChain &chain)
{
    const plan::ValueId value = emitter.node().inputs[1];
    const std::vector<std::size_t> swapped{1, 0};
    if (chain.transposesWeight || !emitter.program().gpu().hasLibraries()) {
        HALFTONE_TRY(const Place place, emitter.read(value));
        return chain.transposesWeight ? Place{place.buffer, permuted(place.view, swapped)} : place;
    }
    const auto turned
        = std::make_shared<tensor::Tensor>(tensor::transposed(*emitter.graph().values[value].constant));
    return Place{emitter.program().addConstant(turned->bytes(), turned),
                 permuted(viewOf({turned->dtype(), turned->shape()}), swapped)};
}

Result<void> lowerMatrixChain(Emitter &emitter, const CodedChain &chain)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place data, emitter.readPlain(node.inputs[0]));
    HALFTONE_TRY(const Place weight, matrixWeight(emitter, chain));
    const View &b = weight.view;
    const std::int64_t depth = b.dims[0];
    const std::int64_t columns = b.dims[1];
    const std::int64_t rows = depth == 0 ? 0 : countOf(data.view.dims) / depth;
    const Place to = emitter.write(node.outputs[0]);
    const auto a = reshaped(data.view, Dims{rows, depth});
    const auto c = reshaped(to.view, Dims{rows, columns});
    if (depth == 0 || rows == 0 || !a || !c || productBlocks(*c) > kMostBlocks)
        return refused("a product of codes of this shape");
    const auto asResult = [&](const View &view) {
        return view.dims.size() <= to.view.dims.size() ? reshaped(stretched(view, to.view.dims), c->dims)
                                                       : std::nullopt;
    };
    ChainText rest(emitter, chain, c->dims, 1);
    if (emitter.program().gpu().hasLibraries()) {
        HALFTONE_TRY(const SignedData codes, signedData(emitter, {data.buffer, *a}, chain.data, {}, {}));
        View sums = viewOf({DType::I32, tensor::Shape(c->dims)});
        const auto buffer = librarySums(emitter, {.a = codes.place.view, .b = b, .c = sums},
                                        codes.place.buffer, weight.buffer);
        if (buffer.ok()) {
            HALFTONE_CHECK(rest.write(codes.zero, asResult));
            finishSums(emitter, {buffer.value(), sums}, {to.buffer, *c}, rest.epilogue(), rest.buffers());
            return {};
        }
        if (buffer.error().code != Errc::Unsupported)
            return buffer.error();
    }
    HALFTONE_CHECK(rest.write(0, asResult));
    emitter.launch(matrixProduct(*a, b, *c, rest.epilogue(), {"int", chain.data.zero}),
                   buffersOf(data, weight, rest, to));
    return {};
}

/// Codes to codes, element by element.
Result<void> lowerElementChain(Emitter &emitter, const CodedChain &chain)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place data, emitter.read(node.inputs[0]));
    const Place to = emitter.write(node.outputs[0], emitter.orderOf(node.inputs[0]));
    const auto asResult = [&to](const View &view) {
        return view.dims.size() <= to.view.dims.size() ? std::optional(stretched(view, to.view.dims))
                                                       : std::nullopt;
    };
    ChainText text(emitter, chain, to.view.dims, 0);
    HALFTONE_CHECK(text.write(0, asResult));
    const auto first = asResult(data.view);
    if (!first)
        return refused("codes of this shape");
    finishSums(emitter, {data.buffer, *first}, to, text.epilogue(), text.buffers());
    return {};
}

Result<void> lowerChain(Emitter &emitter, const CodedChain &chain)
{
    if (!emitter.node().post.empty())
        return refused("post-operations of codes");
    if (chain.product == CodedChain::Product::None)
        return lowerElementChain(emitter, chain);
    if (!emitter.graph().isConstant(emitter.node().inputs[1]) || !emitter.node().outputs.size())
        return refused("a weight that is not constant");
    return chain.product == CodedChain::Product::Window ? lowerWindowChain(emitter, chain)
                                                        : lowerMatrixChain(emitter, chain);
}

Result<void> lowerAverage(Emitter &emitter, const ops::CodedAverage &op)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    const Place to = emitter.write(node.outputs[0], emitter.orderOf(node.inputs[0]));
    const std::size_t rank = from.view.dims.size();
    if (rank < 3 || rank > 5 || from.view.dims.size() != to.view.dims.size() || !node.post.empty())
        return refused("an average of codes of this shape");
    SpatialText text{{}, from.view, to.view, 1, {"double", 0}};
    ops::Dims kernel = op.pool.kernel;
    if (op.pool.global)
        kernel.assign(from.view.dims.begin() + 2, from.view.dims.end());
    HALFTONE_TRY(text.window,
                 ops::makeWindow(kernel, op.pool.global ? ops::Dims() : op.pool.stride, {},
                                 op.pool.global ? ops::Padding() : op.pool.pad));
    const PoolText pool{PoolText::Kind::Average, op.pool.countPadding && !op.pool.global, 0, op.data};
    const std::vector<DType> types{from.view.dtype};
    emitter.launch(perElement(types, to.view, poolText(text, pool), {{}, codeText(op.result, "acc"), {}},
                              "average of codes"),
                   {from.buffer, to.buffer});
    return {};
}

} // namespace

std::optional<Result<void>> lowerCodes(Emitter &emitter)
{
    if (const auto *chain = emitter.node().op.getIf<CodedChain>())
        return lowerChain(emitter, *chain);
    if (const auto *average = emitter.node().op.getIf<ops::CodedAverage>())
        return lowerAverage(emitter, *average);
    return std::nullopt;
}

} // namespace halftone::backends::cuda
