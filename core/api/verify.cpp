#include "halftone/verify.h"

#include "core/api/inside.h"
#include "core/results/verification_json.h"
#include "core/session/verify_model.h"

namespace halftone::api {

Result<Verification> verify(const Model &model, const std::optional<Policy> &policy,
                            const VerifyOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<Verification> {
        std::optional<policy::Policy> wanted;
        if (policy) {
            HALFTONE_TRY(wanted, policyOf(*policy));
        }
        const policy::Policy *const asked = wanted ? &*wanted : nullptr;
        HALFTONE_TRY(const tensor::DType precision, precisionOf(options.precision));
        HALFTONE_TRY(const session::Census found,
                     session::verifyModel(Inside::sessionOf(model), {asked, options.backend, precision},
                                          progressOf(progress)));
        Verification verification;
        for (const mixed::TypeShare &share : found.census.shares)
            verification.operators += share.operators;
        verification.requested = found.census.asked;
        for (const mixed::TypeDifference &one : found.census.differences)
            verification.differences.push_back(
                {one.name, one.op, typeOf(one.asked), typeOf(one.got), one.entry, one.why});
        verification.report = textOf(results::verificationJson(found, asked));
        return verification;
    });
}

} // namespace halftone::api
