#include "halftone/policy.h"

#include "core/api/inside.h"
#include "core/base/mapped_file.h"
#include "core/dialect/dialect.h"
#include "core/dialect/registry.h"
#include "core/policy/op_lists.h"
#include "core/policy/policy_json.h"
#include "core/policy/policy_options.h"
#include "core/results/lists_json.h"

#include <algorithm>

namespace halftone::api {
namespace {

halftone::Result<policy::Policy> begun(const std::string &file, const std::string &text)
{
    if (!text.empty())
        return policy::readPolicy(text);
    if (file.empty())
        return policy::Policy();
    HALFTONE_TRY(const auto mapped, MappedFile::open(file));
    auto read = policy::readPolicy(mapped->text());
    if (!read.ok())
        return inFile(std::move(read).error(), file);
    return read;
}

static_assert(static_cast<int>(Mode::NodeForNode) == static_cast<int>(policy::Mode::NodeForNode)
              && static_cast<int>(Mode::Tvm) == static_cast<int>(policy::Mode::Tvm)
              && static_cast<int>(Mode::All) == static_cast<int>(policy::Mode::All));

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
    HALFTONE_TRY(policy::Policy policy, begun(asked.file, asked.text));
    if (asked.target)
        HALFTONE_CHECK(policy::setTarget(policy, nameOf(*asked.target)));
    if (asked.mode)
        HALFTONE_CHECK(policy::setMode(policy, policy::nameOf(static_cast<policy::Mode>(*asked.mode))));
    if (!asked.hardware.empty())
        HALFTONE_CHECK(policy::setHardware(policy, asked.hardware));
    if (asked.accumulate)
        HALFTONE_CHECK(policy::setAccumulate(policy, nameOf(*asked.accumulate)));
    if (asked.optimise)
        HALFTONE_CHECK(policy::setOptimise(policy, *asked.optimise == Optimise::Time ? "time" : "casts"));
    if (!asked.listVersion.empty())
        policy.listVersion = asked.listVersion;
    HALFTONE_CHECK(addMoves(asked, policy));
    for (const std::string &op : asked.toInt8)
        policy::addInt8(policy, op);
    for (const std::string &rule : asked.conditional)
        HALFTONE_CHECK(policy::addConditional(policy, rule));
    for (const std::string &name : asked.excluded)
        HALFTONE_CHECK(policy::addExcluded(policy, name));
    for (const auto &[node, type] : asked.overrides)
        policy.nodeOverrides.insert_or_assign(node, dtypeOf(type));
    for (const auto &[input, type] : asked.inputTypes)
        policy.inputDtypes.insert_or_assign(input, dtypeOf(type));
    if (asked.castParameters)
        policy.castParams = asked.castParameters;
    if (asked.keepIoTypes)
        policy.keepIoTypes = *asked.keepIoTypes;
    if (asked.clamp)
        policy.clamp = *asked.clamp;
    if (asked.shareNodes)
        policy.share = asked.shareNodes;
    HALFTONE_CHECK(policy::addWeights(policy, {asked.weights, asked.weightMethod, asked.weightForm}));
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

namespace {

halftone::Result<const policy::OpLists *> listsOf(Type target, const std::string &format,
                                                  const std::string &version)
{
    const dialect::Dialect *const dialect = dialect::dialectNamed(format);
    if (dialect == nullptr || dialect->listVersions().empty())
        return badCall("format", '"' + format + '"', "a format with built-in lists");
    return policy::builtInLists(*dialect, dtypeOf(target),
                                version.empty() ? dialect->listVersions().front()
                                                : std::string_view(version));
}

} // namespace

Result<BuiltInLists> builtInLists(Type target, const std::string &format, const std::string &version)
{
    return answer([&]() -> halftone::Result<BuiltInLists> {
        HALFTONE_TRY(const policy::OpLists *const lists, listsOf(target, format, version));
        return BuiltInLists{lists->target, lists->fp32, lists->widest, lists->neutral};
    });
}

Result<std::string> listsReport(Type target, const std::string &format, const std::string &version)
{
    return answer([&]() -> halftone::Result<std::string> {
        HALFTONE_TRY(const policy::OpLists *const lists, listsOf(target, format, version));
        return textOf(results::listsJson(*lists));
    });
}

namespace {

std::string originNames()
{
    std::string names;
    for (const policy::ListOrigin one : policy::kListOrigins)
        names += (names.empty() ? "" : ", ") + std::string(policy::nameOf(one));
    return names;
}

} // namespace

Result<std::string> importedPolicy(const std::string &from, const std::string &lists)
{
    return answer([&]() -> halftone::Result<std::string> {
        const auto *const origin
            = std::ranges::find(policy::kListOrigins, from, [](auto one) { return policy::nameOf(one); });
        if (origin == policy::kListOrigins.end())
            return badCall("from", '"' + from + '"', originNames());
        const auto dialects = dialect::allDialects();
        const auto named = std::ranges::find_if(dialects, &dialect::Dialect::hasForeignLists);
        if (named == dialects.end())
            return unsupported("from", "this build lacks the format whose operators these lists name");
        HALFTONE_TRY(const policy::ImportedLists imported, policy::importLists(*origin, lists, **named));
        return textOf(results::importedJson(imported, from, {}));
    });
}

} // namespace halftone::api
