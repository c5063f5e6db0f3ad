#include "halftone/quantize.h"

#include "core/api/inside.h"
#include "core/quantize/quantize.h"
#include "core/walks/quantize.h"

namespace halftone::api {
namespace {

quantize::QuantizeOptions optionsOf(const QuantizeOptions &asked)
{
    quantize::QuantizeOptions options;
    options.form = asked.form == QuantizedForm::Plain ? quantize::QuantizedForm::Plain
                                                      : quantize::QuantizedForm::Onednn;
    options.codes = asked.codes == Codes::Int8 ? quantize::QuantizedCodes::Int8
        : asked.codes == Codes::UInt8          ? quantize::QuantizedCodes::UInt8
                                               : quantize::QuantizedCodes::Auto;
    options.isFull = asked.full;
    options.perChannel = asked.perChannel;
    options.excludedNames = asked.excluded;
    options.excludedOps = asked.excludedOperators;
    options.quantizedOps = asked.onlyOperators;
    return options;
}

} // namespace

Result<Quantization> quantize(const Model &model, const Calibration &calibration,
                              const QuantizeOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Quantization> {
        const halftone::Progress followed = progressOf(progress);
        HALFTONE_CHECK(followed.checkStop());
        followed.tell(0, "quantizing");
        const graph::Model &source = Inside::graphModelOf(model);
        HALFTONE_TRY(const quantize::QuantizeOptions held,
                     walks::withPositionsHeld(source, optionsOf(options)));
        HALFTONE_TRY(quantize::QuantizedModel made,
                     quantize::quantize(source, held,
                                        walks::calibratedRanges(Inside::of(calibration).outcome.tensors)));
        HALFTONE_CHECK(followed.checkStop());
        HALFTONE_TRY(Model quantized, Inside::modelFrom(model, std::move(made.model)));
        std::vector<SkippedNode> skipped;
        for (const quantize::SkippedNode &node : made.skipped)
            skipped.push_back({node.name, node.op, node.why});
        followed.tell(1, "quantizing");
        return Quantization{std::move(quantized), std::move(made.quantized), std::move(skipped),
                            warningsOf(made.warnings), std::move(made.notes)};
    });
}

} // namespace halftone::api
