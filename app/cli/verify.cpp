#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/options.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/results/verification_json.h"

#include <array>
#include <cstdio>
#include <memory>

namespace halftone::cli {
namespace {

using mixed::TypeCensus;
using mixed::TypeDifference;
using mixed::TypeShare;
using results::sumOf;
using results::wordOf;

struct VerifyOptions
{
    ModelOptions model;
    PolicyOptions policy;
    std::string backend; ///< a runtime whose types are told; empty: none
    PrecisionOption precision;
    bool json = false;

    /// Something is held against the model.
    bool asks() const { return !policy.isEmpty() || !backend.empty(); }
};

std::string percent(std::int64_t part, std::int64_t whole)
{
    if (whole == 0)
        return "-";
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%",
                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return text.data();
}

void printShares(const TypeCensus &census)
{
    const TypeShare sum = sumOf(census);
    Table table({"computes in", "operators", "", "FLOPs", "bytes"});
    for (const TypeShare &share : census.shares)
        table.add(
            {share.type == tensor::DType::Unknown ? "not floating-point" : wordOf(share.type),
             std::to_string(share.operators),
             percent(static_cast<std::int64_t>(share.operators), static_cast<std::int64_t>(sum.operators)),
             percent(share.flops, sum.flops), percent(share.bytes, sum.bytes)});
    print(table.toString());
    Table foot;
    foot.add({"casts",
              std::to_string(census.casts.operators) + ", "
                  + humanBytes(static_cast<std::uint64_t>(census.casts.bytes)) + " read and written"});
    if (sum.uncosted > 0)
        foot.add({"not counted",
                  counted(sum.uncosted, "operator", "operators")
                      + " of unknown cost; pass --shape NAME=1,3,224,224"});
    if (census.inBodies > 0)
        foot.add({"in bodies", counted(census.inBodies, "operator", "operators") + " of them"});
    print('\n' + foot.toString());
}

void printDifferences(const TypeCensus &census)
{
    const std::size_t right = census.asked - census.differences.size();
    print("\n" + std::to_string(right) + " of " + counted(census.asked, "operator", "operators")
          + " compute in the requested type\n");
    if (census.differences.empty())
        return;
    Table table({"node", "operator", "requested", "computes", "why"});
    for (const TypeDifference &difference : census.differences)
        table.add({printable(difference.name), printable(difference.op), wordOf(difference.asked),
                   wordOf(difference.got), printable(difference.why)});
    print('\n' + table.toString());
}

/// The exit code tells a script; the line tells where to look first.
Result<void> verdict(const session::Session &session, const TypeCensus &census)
{
    if (census.differences.empty())
        return {};
    const TypeDifference &first = census.differences.front();
    const std::string more = census.differences.size() == 1
        ? std::string()
        : " (and " + counted(census.differences.size() - 1, "other node", "other nodes") + ")";
    return inFile(badInput(first.name, "computes in " + wordOf(first.got) + more + ": " + first.why,
                           wordOf(first.asked)),
                  session.source().modelPath);
}

Result<void> verify(const VerifyOptions &options, const std::stop_token &stop)
{
    HALFTONE_CHECK(CommandFiles().reads(options.model).reads("--policy", options.policy.file).check());
    HALFTONE_TRY(session::Session session, options.model.open(stop));
    HALFTONE_TRY(const policy::Policy policy, options.policy.read(session));
    const policy::Policy *const wanted = options.policy.isEmpty() ? nullptr : &policy;
    const auto found = session::verifyModel(
        session, {wanted, options.backend, options.precision.type(), policy.inputDtypes}, progress(stop));
    if (!found.ok())
        return options.policy.located(found.error());
    const TypeCensus &census = found.value().census;
    if (options.json) {
        printJson(results::verificationJson(found.value(), wanted));
    } else {
        std::vector<std::string> notes = session.source().notes;
        notes.insert(notes.end(), found.value().notes.begin(), found.value().notes.end());
        tellNotes(session.source().modelPath, notes);
        printShares(census);
        if (options.asks())
            printDifferences(census);
    }
    tellWarnings(census.warnings);
    return verdict(session, census);
}

} // namespace

void addVerify(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<VerifyOptions>();
    Command command = app.command(
        "verify", "Show the types a model's operators compute in and whether they match the policy");
    options->model.addTo(command);
    options->policy.addTo(command);
    command
        .option("--backend", &options->backend,
                "Also show the types that this runtime computes in, and where they differ from the model's")
        .type("NAME");
    options->precision.addTo(command);
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return verify(*options, stop); };
    });
}

} // namespace halftone::cli
