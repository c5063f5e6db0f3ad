#include "core/walks/feature_means.h"

#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/quantize/pairs.h"
#include "core/walks/value_codes.h"
#include "core/walks/walk_examples.h"

#include <algorithm>
#include <cmath>

namespace halftone::walks {
namespace {

using tensor::Tensor;

/// How a layer sees its data.
struct Wanted
{
    bool isColumns = false; ///< the features are what lies behind the first axes; otherwise axis 1
    std::size_t features = 0; ///< columns of the weight; 0: as many as axis 1 has
    std::vector<double> real;
    std::vector<double> coded;
    std::size_t places = 0; ///< summed, a feature
};

class FeatureMeanCollector
{
public:
    FeatureMeanCollector(const quantize::QuantizedRanges &ranges, quantize::QuantizedCodes codes,
                         bool inPairs)
        : m_ranges(ranges)
        , m_codes(codes)
        , m_inPairs(inPairs)
    {
    }

    std::unordered_map<std::string, Wanted> &wanted() { return m_wanted; }

    void take(const std::string &name, const Tensor &value)
    {
        const auto found = m_wanted.find(name);
        if (found == m_wanted.end() || value.dtype() != tensor::DType::F32 || value.shape().rank() < 2
            || value.elementCount() == 0)
            return;
        Wanted &wanted = found->second;
        const std::size_t features
            = wanted.isColumns ? wanted.features : static_cast<std::size_t>(value.shape()[1]);
        const std::size_t count = value.elementCount();
        if (features == 0 || count % features != 0
            || (!wanted.real.empty() && wanted.real.size() != features))
            return;
        std::size_t inner = 1; // elements of one feature that follow each other
        for (std::size_t axis = 2; !wanted.isColumns && axis < value.shape().rank(); ++axis)
            inner *= static_cast<std::size_t>(value.shape()[axis]);
        wanted.real.resize(features);
        wanted.coded.resize(features);
        const auto range = m_ranges.find(name);
        const bool isKnown = range != m_ranges.end();
        const ValueCodes codes(isKnown ? range->second : quantize::QuantizedRange{}, m_codes,
                               m_inPairs && isKnown);
        const std::vector<float> values = value.values<float>();
        for (std::size_t at = 0, feature = 0; at < count; at += inner, feature = (feature + 1) % features) {
            double real = 0;
            double coded = 0;
            for (std::size_t i = at; i < at + inner; ++i) {
                const float x = std::isfinite(values[i]) ? values[i] : 0;
                real += double{x};
                coded += codes.decoded(x);
            }
            wanted.real[feature] += real;
            wanted.coded[feature] += coded;
        }
        wanted.places += count / features;
    }

    std::unordered_map<std::string, quantize::FeatureMeans> means() const
    {
        std::unordered_map<std::string, quantize::FeatureMeans> all;
        for (const auto &[name, wanted] : m_wanted) {
            if (wanted.places == 0)
                continue;
            quantize::FeatureMeans &means = all[name];
            for (std::size_t k = 0; k < wanted.real.size(); ++k) {
                means.real.push_back(wanted.real[k] / static_cast<double>(wanted.places));
                means.coded.push_back(wanted.coded[k] / static_cast<double>(wanted.places));
            }
        }
        return all;
    }

private:
    const quantize::QuantizedRanges &m_ranges;
    quantize::QuantizedCodes m_codes;
    bool m_inPairs; ///< values go through codes with a zero point
    std::unordered_map<std::string, Wanted> m_wanted; ///< by the tensor's name
};

} // namespace

Result<std::unordered_map<std::string, quantize::FeatureMeans>>
featureMeans(const graph::Model &model, const std::string &modelPath,
             const std::vector<quantize::Int8Product> &products, const quantize::QuantizedRanges &ranges,
             quantize::QuantizedCodes codes, const CalibrateOptions &options, const Progress &progress)
{
    const dialect::Dialect &dialect = dialect::of(model.graph);
    FeatureMeanCollector collector(ranges, codes, quantize::isInPairs(model.graph));
    const dialect::StoredArrays stored = dialect::storedArrays(model);
    for (const quantize::Int8Product &product : products) {
        Wanted wanted;
        if (product.isFullyConnected) {
            const auto weight = stored.find(model.graph.node(model.graph.inputs(product.node)[1].node).name);
            if (weight == stored.end() || weight->second->shape.rank() != 2)
                continue;
            wanted.isColumns = true;
            wanted.features = static_cast<std::size_t>(weight->second->shape[product.isTransposed ? 0 : 1]);
        }
        collector.wanted().emplace(product.data, std::move(wanted));
    }
    const ExampleViewer viewer = [&](const graph::Entry &entry, const Tensor &value, bool) {
        collector.take(dialect.entryName(model.graph, entry), value);
    };
    const Progress telling{progress.stop, [&progress](double done, std::string_view) {
                               progress.tell(done, "averaging what int8 layers read");
                           }};
    const auto walked = walkExamples(model, modelPath, options, viewer, telling);
    if (!walked.ok())
        return walked.error();
    return collector.means();
}

} // namespace halftone::walks
