#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {
namespace {

std::ptrdiff_t signedOf(std::size_t value)
{
    return static_cast<std::ptrdiff_t>(value);
}

/// A dense matrix of `columns` columns, or what it is transposed.
template <class Real>
MatrixView<const Real> dense(const Real *at, std::size_t rows, std::size_t columns, bool transposed)
{
    return transposed ? MatrixView<const Real>{at, 1, signedOf(rows)}
                      : MatrixView<const Real>{at, signedOf(columns), 1};
}

} // namespace

template <class Real>
Result<void> compute(const ops::FullyConnected &op, const Arrays<Real> &arrays)
{
    const std::size_t features = static_cast<std::size_t>(arrays.inDims(1)[1]);
    const auto units = static_cast<std::size_t>(op.units);
    const std::size_t rows = units == 0 ? 0 : arrays.outCount(0) / units;
    // Units are the rows, so that the bias is theirs; the result is written transposed.
    multiply<Real>(arrays.summing(), units, features, rows, {arrays.in[1], signedOf(features), 1},
                   MatrixView<const Real>{arrays.in[0], 1, signedOf(features)},
                   op.hasBias ? arrays.in[2] : nullptr, {arrays.out[0], 1, signedOf(units)});
    return {};
}

namespace {

/// Matrices in the last two axes; the leading axes stretch, vectors are a row on the left and a column on the right.
template <class Real>
Result<void> multiplyStretched(const Arrays<Real> &arrays)
{
    std::vector<std::int64_t> a(arrays.inDims(0).begin(), arrays.inDims(0).end());
    std::vector<std::int64_t> b(arrays.inDims(1).begin(), arrays.inDims(1).end());
    if (a.size() == 1)
        a.insert(a.begin(), 1);
    if (b.size() == 1)
        b.push_back(1);
    const auto rows = static_cast<std::size_t>(a[a.size() - 2]);
    const auto depth = static_cast<std::size_t>(a.back());
    const auto columns = static_cast<std::size_t>(b.back());
    const std::size_t leading = std::max(a.size(), b.size()) - 2;
    const DimSpan batch = DimSpan(arrays.outDims(0)).first(leading);
    if (arrays.outCount(0) == 0)
        return {};
    if (depth == 0)
        std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    // A last axis of 1 makes every place of the leading axes a row of the walk.
    std::vector<std::int64_t> places(batch.begin(), batch.end());
    places.push_back(1);
    const auto strides = [&](const std::vector<std::int64_t> &dims) {
        std::vector<std::int64_t> result = stretchedStrides(DimSpan(dims).first(dims.size() - 2), batch);
        result.push_back(0);
        return result;
    };
    RowWalk walk(places, {strides(a), strides(b)});
    for (std::size_t i = 0; i < walk.rowCount() && depth > 0 && !arrays.workers.stopped(); ++i, walk.next())
        multiply<Real>(
            arrays.summing(), rows, depth, columns,
            dense(arrays.in[0] + static_cast<std::size_t>(walk.offset(0)) * rows * depth, rows, depth, false),
            dense(arrays.in[1] + static_cast<std::size_t>(walk.offset(1)) * depth * columns, depth, columns,
                  false),
            nullptr, {arrays.out[0] + i * rows * columns, signedOf(columns), 1});
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::MatMul &op, const Arrays<Real> &arrays)
{
    if (op.form == ops::MatMul::Form::Stretched)
        return multiplyStretched(arrays);
    const DimSpan a = arrays.inDims(0);
    const DimSpan b = arrays.inDims(1);
    if (op.form == ops::MatMul::Form::Dot) {
        // The summed axis is the last of a (first when transposed) and the first of b (last when transposed).
        const std::size_t depth
            = a.empty() ? 1 : static_cast<std::size_t>(op.transposeA ? a.front() : a.back());
        const std::size_t rows = depth == 0 ? 0 : arrays.inCount(0) / depth;
        const std::size_t columns = depth == 0 ? 0 : arrays.inCount(1) / depth;
        if (depth == 0)
            std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
        multiply<Real>(arrays.summing(), rows, depth, columns,
                       dense(arrays.in[0], rows, depth, op.transposeA),
                       dense(arrays.in[1], depth, columns, op.transposeB), nullptr,
                       {arrays.out[0], signedOf(columns), 1});
        return {};
    }
    const DimSpan c = arrays.outDims(0);
    const std::size_t rank = c.size();
    const auto rows = static_cast<std::size_t>(c[rank - 2]);
    const auto columns = static_cast<std::size_t>(c[rank - 1]);
    const auto depth = static_cast<std::size_t>(a[op.transposeA ? rank - 2 : rank - 1]);
    for (std::size_t i = 0; i < extent(c, 0, rank - 2) && !arrays.workers.stopped(); ++i)
        multiply<Real>(arrays.summing(), rows, depth, columns,
                       dense(arrays.in[0] + i * rows * depth, rows, depth, op.transposeA),
                       dense(arrays.in[1] + i * depth * columns, depth, columns, op.transposeB), nullptr,
                       {arrays.out[0] + i * rows * columns, signedOf(columns), 1});
    return {};
}

template <class Real>
Result<void> compute(const ops::Gemm &op, const Arrays<Real> &arrays)
{
    const DimSpan a = arrays.inDims(0);
    const DimSpan c = arrays.outDims(0);
    const std::size_t rank = c.size();
    const std::size_t axis = fromFront(op.axis, rank);
    const auto rows = static_cast<std::size_t>(c[axis]);
    const auto columns = static_cast<std::size_t>(c[rank - 1]);
    const auto depth = static_cast<std::size_t>(op.transposeA ? a[axis] : a[rank - 1]);
    // Axes between the rows and the columns are batch axes too: a row of theirs lies `inner` rows apart.
    const std::size_t outer = extent(c, 0, axis);
    const std::size_t inner = extent(c, axis + 1, rank - 1);
    const auto view = [&](const Real *data, std::size_t o, std::size_t i, std::size_t height,
                          std::size_t width, bool transposed) {
        const Real *at = data + (o * height * inner + i) * width;
        const MatrixView<const Real> matrix{at, signedOf(inner * width), 1};
        return transposed ? MatrixView<const Real>{at, 1, matrix.rowStride} : matrix;
    };
    for (std::size_t o = 0; o < outer && !arrays.workers.stopped(); ++o) {
        for (std::size_t i = 0; i < inner; ++i) {
            const auto left = op.transposeA ? view(arrays.in[0], o, i, depth, rows, true)
                                            : view(arrays.in[0], o, i, rows, depth, false);
            const auto right = op.transposeB ? view(arrays.in[1], o, i, columns, depth, true)
                                             : view(arrays.in[1], o, i, depth, columns, false);
            multiply<Real>(arrays.summing(), rows, depth, columns, left, right, nullptr,
                           {arrays.out[0] + (o * rows * inner + i) * columns, signedOf(inner * columns), 1});
        }
    }
    if (depth == 0)
        std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    const std::vector<std::int64_t> strides
        = stretchedStrides(op.hasAddend ? arrays.inDims(2) : DimSpan(), c);
    RowWalk walk(c, {strides});
    Real *out = arrays.out[0];
    for (std::size_t row = 0; row < walk.rowCount() && columns > 0; ++row, walk.next()) {
        std::int64_t addend = walk.offset(0);
        for (std::size_t i = 0; i < columns; ++i, ++out, addend += walk.step(0))
            *out = *out * static_cast<Real>(op.alpha)
                + (op.hasAddend ? static_cast<Real>(op.beta) * arrays.in[2][addend] : Real(0));
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::AttentionProduct &op, const Arrays<Real> &arrays)
{
    using Kind = ops::AttentionProduct::Kind;
    const bool cross = op.kind == Kind::CrossScores || op.kind == Kind::CrossValues;
    const bool scores = op.kind == Kind::SelfScores || op.kind == Kind::CrossScores;
    const auto heads = static_cast<std::size_t>(op.heads);
    // A row is (batch, head, part, size); the parts of one head lie together.
    const std::size_t source = scores && cross ? 1 : 0;
    const std::size_t parts = cross ? 2 : 3;
    const auto batch = static_cast<std::size_t>(arrays.inDims(source)[1]);
    const auto width = static_cast<std::size_t>(arrays.inDims(source)[2]);
    const std::size_t size = width / heads / parts;
    const auto part = [&](std::size_t n, std::size_t h, std::size_t which) {
        return arrays.in[source] + n * width + (h * parts + which) * size;
    };
    const std::ptrdiff_t rowStride = signedOf(batch * width);
    for (std::size_t n = 0; n < batch && !arrays.workers.stopped(); ++n) {
        for (std::size_t h = 0; h < heads; ++h) {
            if (scores) {
                const auto queries = static_cast<std::size_t>(arrays.outDims(0)[1]);
                const auto keys = static_cast<std::size_t>(arrays.outDims(0)[2]);
                const Real scale = Real(1) / std::sqrt(static_cast<Real>(size));
                const MatrixView<const Real> left = cross
                    ? MatrixView<const Real>{arrays.in[0] + (n * heads + h) * size,
                                             signedOf(batch * heads * size), 1}
                    : MatrixView<const Real>{part(n, h, 0), rowStride, 1};
                Real *out = arrays.out[0] + (n * heads + h) * queries * keys;
                multiply<Real>(arrays.summing(), queries, size, keys, left,
                               MatrixView<const Real>{part(n, h, cross ? 0 : 1), 1, rowStride}, nullptr,
                               {out, signedOf(keys), 1});
                for (std::size_t i = 0; i < queries * keys; ++i)
                    out[i] *= scale;
                continue;
            }
            const auto queries = static_cast<std::size_t>(arrays.inDims(1)[1]);
            const auto keys = static_cast<std::size_t>(arrays.inDims(1)[2]);
            multiply<Real>(arrays.summing(), queries, keys, size,
                           {arrays.in[1] + (n * heads + h) * queries * keys, signedOf(keys), 1},
                           MatrixView<const Real>{part(n, h, parts - 1), rowStride, 1}, nullptr,
                           {arrays.out[0] + (n * heads + h) * size, signedOf(batch * heads * size), 1});
        }
    }
    return {};
}

HALFTONE_BOTH(FullyConnected)
HALFTONE_BOTH(MatMul)
HALFTONE_BOTH(Gemm)
HALFTONE_BOTH(AttentionProduct)

} // namespace halftone::backends::reference
