#include "core/session/correct_conversion.h"

#include "core/session/feature_means.h"

namespace halftone::session {

Result<CorrectedConversion> correctConversion(const graph::Model &model, const std::string &symbolPath,
                                              const policy::Policy &policy,
                                              const passes::ConvertedModel &converted,
                                              const passes::ShapeMap *shapes,
                                              const passes::QuantizedRanges &ranges,
                                              const CalibrateOptions &options, const Progress &progress)
{
    const auto products = passes::int8Products(model.graph, converted.model.graph);
    HALFTONE_TRY(
        const auto means,
        featureMeans(model, symbolPath, products, ranges, passes::QuantizedCodes::Auto, options, progress));
    HALFTONE_TRY(passes::CorrectedBiases biases, passes::correctBiases(model, products, means));
    HALFTONE_TRY(passes::ConvertedModel again,
                 passes::convertModel(biases.model, policy, false, progress, shapes, &ranges));
    return CorrectedConversion{std::make_shared<const passes::ConvertedModel>(std::move(again)),
                               biases.corrected, std::move(biases.notes)};
}

Result<CorrectedConversion> correctConversion(const Snapshot &snapshot, const CalibrateOptions &options,
                                              const Progress &progress)
{
    const io::LoadedModel &source = *snapshot.source;
    HALFTONE_TRY(const std::vector<std::string> names, passes::rangesToFind(source.model, *snapshot.policy));
    HALFTONE_TRY(const passes::QuantizedRanges ranges,
                 snapshot.ranges->ranges(names, *snapshot.policy, progress));
    return correctConversion(source.model, source.symbolPath, *snapshot.policy, *snapshot.converted,
                             snapshot.shapes.get(), ranges, options, progress);
}

} // namespace halftone::session
