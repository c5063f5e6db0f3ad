#include "halftone/policy.h"

#include "core/api/inside.h"
#include "core/base/mapped_file.h"
#include "core/dialect/registry.h"
#include "core/policy/op_lists.h"
#include "core/policy/policy_json.h"
#include "core/policy/policy_options.h"

namespace halftone::api {
namespace {

halftone::Result<policy::Policy> begun(const std::string &file)
{
    if (file.empty())
        return policy::Policy();
    HALFTONE_TRY(const auto mapped, MappedFile::open(file));
    auto read = policy::readPolicy(mapped->text());
    if (!read.ok())
        return inFile(std::move(read).error(), file);
    return read;
}

halftone::Result<void> addMoves(const Policy &asked, policy::Policy &policy)
{
    using To = policy::Policy::Move::To;
    for (const auto &[ops, to] :
         {std::pair(&asked.toTarget, To::Target), std::pair(&asked.toFloat32, To::Fp32),
          std::pair(&asked.toWidest, To::Widest), std::pair(&asked.toNeutral, To::Neutral)}) {
        for (const std::string &op : *ops)
            HALFTONE_CHECK(policy::addMove(policy, op, to));
    }
    return {};
}

} // namespace

halftone::Result<policy::Policy> policyOf(const Policy &asked)
{
    HALFTONE_TRY(policy::Policy policy, begun(asked.file));
    if (asked.target)
        HALFTONE_CHECK(policy::setTarget(policy, nameOf(*asked.target)));
    if (asked.mode)
        policy.mode = *asked.mode == Mode::Typed ? policy::Mode::Typed : policy::Mode::NodeForNode;
    HALFTONE_CHECK(addMoves(asked, policy));
    for (const std::string &op : asked.toInt8)
        policy::addInt8(policy, op);
    for (const std::string &name : asked.excluded)
        HALFTONE_CHECK(policy::addExcluded(policy, name));
    for (const auto &[node, type] : asked.overrides)
        policy.nodeOverrides.insert_or_assign(node, dtypeOf(type));
    for (const auto &[input, type] : asked.inputTypes)
        policy.inputDtypes.insert_or_assign(input, dtypeOf(type));
    if (asked.castParameters)
        policy.castParams = asked.castParameters;
    if (asked.shareNodes)
        policy.share = asked.shareNodes;
    if (asked.thresholds)
        policy.thresholdMethod = methodOf(*asked.thresholds);
    return policy;
}

Result<std::string> policyText(const Policy &policy)
{
    return answer([&]() -> halftone::Result<std::string> {
        HALFTONE_TRY(const policy::Policy written, policyOf(policy));
        return policy::writePolicy(written);
    });
}

Result<BuiltInLists> builtInLists(Type target, const std::string &format)
{
    return answer([&]() -> halftone::Result<BuiltInLists> {
        const dialect::Dialect *const dialect = dialect::dialectNamed(format);
        if (dialect == nullptr)
            return badCall("format", '"' + format + '"', "a format with built-in lists");
        HALFTONE_TRY(const policy::OpLists *const lists,
                     policy::builtInLists(*dialect, dtypeOf(target), {}));
        return BuiltInLists{lists->target, lists->fp32, lists->widest, lists->neutral};
    });
}

} // namespace halftone::api
