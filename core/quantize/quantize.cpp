#include "core/quantize/quantize.h"

#include "core/base/text.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/infer/cpu_defects.h"
#include "core/quantize/pairs.h"
#include "core/quantize/quantize_align.h"
#include "core/quantize/quantize_draft.h"
#include "core/quantize/quantize_faithful.h"

#include <algorithm>

namespace halftone::quantize {
namespace {

Result<QuantizationPlan> planOf(const graph::Model &model, const QuantizeOptions &options,
                                const Deviations &deviations)
{
    QuantizationPlan plan;
    if (options.form == QuantizedForm::Onednn) {
        const FuseLimits limits{options.asked, options.apart, deviations.withoutSum, deviations.sums,
                                options.isCalibrated};
        HALFTONE_TRY(plan.fused, fuseForQuantization(model.graph, limits));
    } else {
        plan.fused = unfused(model.graph);
    }
    HALFTONE_TRY(plan.choice, chooseQuantized(plan.fused, model.graph, options, deviations));
    for (const tensor::Array &array : model.parameters)
        plan.parameters.insert(dialect::variableOf(model.graph, array.name));
    return plan;
}

QuantizedRanges widened(QuantizedRanges ranges, const QuantizeOptions &options)
{
    for (auto &[name, range] : ranges) {
        // 127 levels for amax in a scheme that spends 127.5 on the range that it is told, and 255 likewise.
        const bool isOneSided = options.codes != QuantizedCodes::Int8 && range.low >= 0;
        const float factor = isOneSided ? 255.5F / 255 : 127.5F / 127;
        range.low *= factor;
        range.high *= factor;
    }
    return ranges;
}

/// A quantized graph that MXNet computes as it says, as far as there is one, and what is left.
struct Faithful
{
    QuantizationPlan plan;
    QuantizedDraft draft;
    std::vector<infer::CpuDefect> defects;
};

/// known  the plan that begins it; null: made here
Result<Faithful> faithful(const graph::Model &model, const QuantizeOptions &options,
                          const QuantizedRanges &ranges, const QuantizationPlan *known)
{
    Deviations deviations = deviationsAhead(model);
    for (;; known = nullptr) {
        Faithful made;
        if (known) {
            made.plan = *known;
        } else {
            HALFTONE_TRY(made.plan, planOf(model, options, deviations));
        }
        made.draft = draftQuantized(made.plan, options, deviations, &ranges);
        if (options.form == QuantizedForm::Onednn)
            alignConcatRanges(made.draft.graph, *dialect::of(model.graph).quantizedForms());
        HALFTONE_TRY(const infer::TypeMap types, typesOf(made.draft, made.plan.parameters));
        made.defects = infer::cpuDefects(made.draft.graph, types);
        if (!deviateMore(made.draft, made.defects, options.form, deviations))
            return made;
    }
}

/// title  of the format
std::vector<std::string> notesOf(const QuantizedDraft &draft, std::string_view title)
{
    std::vector<std::string> notes;
    if (!draft.missing.empty())
        notes.push_back("no calibrated range, so it is determined at run time: " + joined(draft.missing));
    if (!draft.keptSigned.empty())
        notes.push_back("int8 instead of uint8, which " + std::string(title)
                        + " rejects for values that may be negative: " + joined(draft.keptSigned));
    if (draft.longTexts > 0)
        notes.push_back(std::to_string(draft.longTexts)
                        + " ranges are written with nine significant digits, because " + std::string(title)
                        + "'s six digits "
                          "after the point would lose accuracy");
    return notes;
}

} // namespace

Result<void> checkQuantizable(const graph::Graph &graph)
{
    const dialect::Dialect &dialect = dialect::of(graph);
    if (dialect.quantizedForms() == nullptr && dialect::codedPairsOf(dialect) == nullptr)
        return unsupported({}, "int8 operators in " + std::string(dialect.title()),
                           "a format that supports int8");
    return {};
}

Result<PlannedQuantization> planQuantization(const graph::Model &model, const QuantizeOptions &options)
{
    HALFTONE_CHECK(checkQuantizable(model.graph));
    if (isInPairs(model.graph))
        return planInPairs(model, options);
    Deviations deviations = deviationsAhead(model);
    HALFTONE_TRY(QuantizationPlan plan, planOf(model, options, deviations));
    QuantizedDraft draft = draftQuantized(plan, options, deviations, nullptr);
    const auto kept = std::make_shared<const QuantizationPlan>(std::move(plan));
    deviations.withoutSum = convolutionsWithSignedSum(draft);
    if (deviations.withoutSum.empty())
        return PlannedQuantization{std::move(draft.observed), kept};
    // Whether these sums are fused depends on the ranges.
    HALFTONE_TRY(const QuantizationPlan apart, planOf(model, options, deviations));
    for (ObservedTensor &tensor : draftQuantized(apart, options, deviations, nullptr).observed) {
        if (std::ranges::find(draft.observed, tensor.source, &ObservedTensor::source) == draft.observed.end())
            draft.observed.push_back(std::move(tensor));
    }
    return PlannedQuantization{std::move(draft.observed), kept};
}

Result<QuantizedModel> quantize(const graph::Model &model, const QuantizeOptions &options,
                                const QuantizedRanges &ranges, const KnownParts &known)
{
    if (!model.hasParameters)
        return badInput("parameters", "none", "weights to quantize");
    HALFTONE_CHECK(checkQuantizable(model.graph));
    if (isInPairs(model.graph))
        return quantizeInPairs(model, options, ranges);
    const QuantizedRanges used = options.isNeutral ? widened(ranges, options) : ranges;
    HALFTONE_TRY(Faithful made, faithful(model, options, used, known.plan));
    QuantizedModel result;
    for (const ObservedTensor &tensor : made.draft.observed) {
        if (const auto found = used.find(tensor.source); found != used.end())
            result.thresholds.push_back({tensor, found->second});
    }
    result.notes = notesOf(made.draft, dialect::of(model.graph).title());
    result.warnings = infer::cpuWarnings(made.draft.graph, made.defects);
    result.model.graph = std::move(made.draft.graph);
    result.quantized = std::move(made.draft.quantized);
    result.skipped = std::move(made.plan.choice.skipped);
    result.origins = std::move(made.draft.origins);
    result.dropped = std::move(made.plan.fused.dropped);
    tensor::FormCache own;
    HALFTONE_TRY(result.model.parameters,
                 quantizedParameters(model, result.model.graph, made.draft.offline, result.notes,
                                     known.forms ? *known.forms : own));
    result.model.hasParameters = true;
    return result;
}

} // namespace halftone::quantize
