#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::backends::reference {
namespace {

/// A tensor of heads, (N, heads, T, size) or (N, T, heads · size): where the rows of a head lie.
struct Heads
{
    std::size_t heads = 1;
    std::size_t length = 1;
    std::size_t size = 1;
    bool isFlat = false;

    Heads(DimSpan dims, std::int64_t given)
        : isFlat(dims.size() == 3)
    {
        heads = static_cast<std::size_t>(isFlat ? given : dims[1]);
        length = static_cast<std::size_t>(isFlat ? dims[1] : dims[2]);
        size = static_cast<std::size_t>(dims.back()) / (isFlat ? heads : 1);
    }

    std::size_t begin(std::size_t n, std::size_t h) const
    {
        return isFlat ? n * length * heads * size + h * size : (n * heads + h) * length * size;
    }
    std::size_t step() const { return isFlat ? heads * size : size; }
};

/// The past of a head and then its new rows, as a matrix of `total` rows.
template <class Real>
std::vector<Real> withPast(const Arrays<Real> &arrays, std::size_t input, std::optional<std::size_t> past,
                           const Heads &heads, std::size_t n, std::size_t h)
{
    std::vector<Real> rows;
    if (past) {
        const std::size_t run = static_cast<std::size_t>(arrays.inDims(*past)[2]) * heads.size;
        const Real *from = arrays.in[*past] + (n * heads.heads + h) * run;
        rows.assign(from, from + run);
    }
    for (std::size_t t = 0; t < heads.length; ++t) {
        const Real *from = arrays.in[input] + heads.begin(n, h) + t * heads.step();
        rows.insert(rows.end(), from, from + heads.size);
    }
    return rows;
}

/// What is added to the products of one head: the mask, and negative infinity for keys that a query does not see.
template <class Real>
class Bias
{
public:
    Bias(const ops::Attention &op, const Arrays<Real> &arrays, std::size_t queries, std::size_t total)
        : m_op(op)
        , m_arrays(arrays)
        , m_queries(static_cast<std::int64_t>(queries))
        , m_past(op.hasPast ? arrays.inDims(op.hasMask ? 4 : 3)[2] : 0)
    {
        if (!op.hasMask)
            return;
        m_isBool = arrays.operation.inputs[3].dtype == tensor::DType::Bool;
        const DimSpan dims = arrays.inDims(3);
        m_masked = dims.empty() || (dims.back() == 1 && !op.padsMask) ? total
                                                                      : static_cast<std::size_t>(dims.back());
        const std::vector<std::int64_t> own = denseStrides(dims);
        for (std::size_t k = 0; k < std::min<std::size_t>(dims.size(), 4); ++k)
            m_strides[3 - k] = dims[dims.size() - 1 - k] == 1 ? 0 : own[dims.size() - 1 - k];
    }

    Real at(std::size_t n, std::size_t h, std::size_t query, std::size_t key) const
    {
        constexpr Real kNever = -std::numeric_limits<Real>::infinity();
        if (isHidden(n, static_cast<std::int64_t>(query), static_cast<std::int64_t>(key)))
            return kNever;
        if (!m_op.hasMask)
            return 0;
        if (key >= m_masked)
            return kNever;
        const Real value = m_arrays.in[3][offset(n, 0) + offset(h, 1) + offset(query, 2) + offset(key, 3)];
        return !m_isBool ? value : value != 0 ? Real(0) : kNever;
    }

private:
    bool isHidden(std::size_t n, std::int64_t query, std::int64_t key) const
    {
        const std::int64_t valid
            = m_op.hasLengths ? static_cast<std::int64_t>(m_arrays.in[m_arrays.in.size() - 1][n]) : 0;
        if (m_op.hasLengths && key >= valid)
            return true;
        const std::int64_t place = query + (m_op.hasLengths ? valid - m_queries : m_past);
        return (m_op.causal && key > place) || (m_op.left && place - key > *m_op.left)
            || (m_op.right && key - place > *m_op.right);
    }

    std::size_t offset(std::size_t i, std::size_t axis) const
    {
        return i * static_cast<std::size_t>(m_strides[axis]);
    }

    const ops::Attention &m_op;
    const Arrays<Real> &m_arrays;
    std::int64_t m_queries;
    std::int64_t m_past;
    std::size_t m_masked = 0; ///< keys that the mask tells of
    bool m_isBool = false;
    std::array<std::int64_t, 4> m_strides{};
};

template <class Real>
void roundScores(tensor::DType type, Real *row, std::size_t length)
{
    for (std::size_t i = 0; tensor::isHalf(type) && i < length; ++i)
        row[i] = static_cast<Real>(tensor::heldIn(type, static_cast<double>(row[i])));
}

/// In place. Where all is negative infinity, 0.
template <class Real>
void softmaxRow(Real *row, std::size_t length)
{
    const Real largest = *std::max_element(row, row + length);
    if (largest == -std::numeric_limits<Real>::infinity()
        && std::none_of(row, row + length, [](Real x) { return std::isnan(x); })) {
        std::fill_n(row, length, Real(0));
        return;
    }
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
        row[i] = std::exp(row[i] - largest);
        sum += static_cast<double>(row[i]);
    }
    for (std::size_t i = 0; i < length; ++i)
        row[i] = static_cast<Real>(static_cast<double>(row[i]) / sum);
}

/// Scores of a query become its weights, in place.
template <class Real>
void weighKeys(Real *row, std::size_t length, tensor::DType type, bool seesNothing)
{
    roundScores(type, row, length);
    if (seesNothing)
        std::fill_n(row, length, Real(0));
    else
        softmaxRow(row, length);
    roundScores(type, row, length);
}

/// Gives by query whether the biases alone hide all keys from it: it sees nothing then, whatever its products are.
template <class Real>
std::vector<bool> addAttentionBias(const Bias<Real> &bias, std::size_t n, std::size_t h,
                                   std::vector<Real> &products, std::size_t total)
{
    std::vector<bool> seesNothing(products.size() / total, true);
    for (std::size_t q = 0; q < seesNothing.size(); ++q) {
        for (std::size_t k = 0; k < total; ++k) {
            const Real added = bias.at(n, h, q, k);
            seesNothing[q] = seesNothing[q] && added == -std::numeric_limits<Real>::infinity();
            products[q * total + k] += added;
        }
    }
    return seesNothing;
}

template <class Real>
Real *output(const Arrays<Real> &arrays, std::size_t i)
{
    return i < arrays.out.size() ? arrays.out[i] : nullptr;
}

} // namespace

template <class Real>
Result<void> compute(const ops::Attention &op, const Arrays<Real> &arrays)
{
    using Shows = ops::Attention::Shows;
    const Heads queries(arrays.inDims(0), op.queryHeads);
    const Heads keys(arrays.inDims(1), op.keyHeads);
    const Heads values(arrays.inDims(2), op.keyHeads);
    const Heads results(arrays.outDims(0), op.queryHeads);
    const std::size_t past = op.hasMask ? 4 : 3;
    const std::optional<std::size_t> pastKeys = op.hasPast ? std::optional(past) : std::nullopt;
    const std::optional<std::size_t> pastValues = op.hasPast ? std::optional(past + 1) : std::nullopt;
    const std::size_t total
        = keys.length + (op.hasPast ? static_cast<std::size_t>(arrays.inDims(past)[2]) : 0);
    const auto scale = static_cast<Real>(op.scale.value_or(1 / std::sqrt(static_cast<double>(queries.size))));
    const auto cap = static_cast<Real>(op.cap);
    const Bias<Real> bias(op, arrays, queries.length, total);
    const std::size_t group = queries.heads / std::max<std::size_t>(keys.heads, 1);
    for (std::size_t n = 0; n < static_cast<std::size_t>(arrays.inDims(0)[0]) && total > 0; ++n) {
        for (std::size_t h = 0; h < queries.heads && !arrays.workers.stopped(); ++h) {
            const std::vector<Real> keyRows = withPast(arrays, 1, pastKeys, keys, n, h / group);
            const std::vector<Real> valueRows = withPast(arrays, 2, pastValues, values, n, h / group);
            std::vector<Real> products(queries.length * total);
            const auto signedOf = [](std::size_t value) { return static_cast<std::ptrdiff_t>(value); };
            multiply<Real>(arrays.summing(), queries.length, queries.size, total,
                           {arrays.in[0] + queries.begin(n, h), signedOf(queries.step()), 1},
                           MatrixView<const Real>{keyRows.data(), 1, signedOf(keys.size)}, nullptr,
                           {products.data(), signedOf(total), 1});
            Real *const shown
                = output(arrays, 3) ? arrays.out[3] + (n * queries.heads + h) * products.size() : nullptr;
            const auto show = [&](Shows what) {
                if (shown && op.shows == what)
                    std::ranges::copy(products, shown);
            };
            for (Real &x : products)
                x *= scale;
            show(Shows::Products);
            for (Real &x : products)
                x = cap > 0 ? cap * std::tanh(x / cap) : x;
            show(Shows::Capped);
            const std::vector<bool> seesNothing = addAttentionBias(bias, n, h, products, total);
            show(Shows::Masked);
            for (std::size_t q = 0; q < queries.length; ++q)
                weighKeys(products.data() + q * total, total, op.softmaxType, seesNothing[q]);
            show(Shows::Weights);
            multiply<Real>(arrays.summing(), queries.length, total, values.size,
                           {products.data(), signedOf(total), 1},
                           MatrixView<const Real>{valueRows.data(), signedOf(values.size), 1}, nullptr,
                           {arrays.out[0] + results.begin(n, h), signedOf(results.step()), 1});
            if (h % group != 0)
                continue;
            if (Real *out = output(arrays, 1))
                std::ranges::copy(keyRows, out + (n * keys.heads + h / group) * keyRows.size());
            if (Real *out = output(arrays, 2))
                std::ranges::copy(valueRows, out + (n * values.heads + h / group) * valueRows.size());
        }
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::RotaryEmbedding &op, const Arrays<Real> &arrays)
{
    const Heads data(arrays.inDims(0), op.heads);
    const std::size_t turned = op.size == 0 ? data.size : static_cast<std::size_t>(op.size);
    const std::size_t pairs = turned / 2;
    std::copy_n(arrays.in[0], arrays.outCount(0), arrays.out[0]);
    for (std::size_t n = 0; n < static_cast<std::size_t>(arrays.inDims(0)[0]); ++n) {
        for (std::size_t t = 0; t < data.length; ++t) {
            std::size_t position = n * data.length + t;
            if (op.hasPositions) {
                const Real given = arrays.in[3][position];
                if (!(given >= 0 && given < static_cast<Real>(arrays.inDims(1)[0])))
                    return badInput("input 3", "a position that is not there",
                                    "0 to " + std::to_string(arrays.inDims(1)[0] - 1));
                position = static_cast<std::size_t>(given);
            }
            for (std::size_t h = 0; h < data.heads; ++h) {
                const std::size_t begin = data.begin(n, h) + t * data.step();
                for (std::size_t k = 0; k < pairs; ++k) {
                    const std::size_t first = begin + (op.interleaved ? 2 * k : k);
                    const std::size_t second = first + (op.interleaved ? 1 : pairs);
                    const Real cosine = arrays.in[1][position * pairs + k];
                    const Real sine = arrays.in[2][position * pairs + k];
                    arrays.out[0][first] = cosine * arrays.in[0][first] - sine * arrays.in[0][second];
                    arrays.out[0][second] = sine * arrays.in[0][first] + cosine * arrays.in[0][second];
                }
            }
        }
    }
    return {};
}

HALFTONE_BOTH(Attention)
HALFTONE_BOTH(RotaryEmbedding)

} // namespace halftone::backends::reference
