#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/hardware/catalogue.h"
#include "core/hardware/description_json.h"
#include "core/machines/local_chips.h"
#include "core/machines/measure_machine.h"
#include "core/results/machine_json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

namespace halftone::cli {
namespace {

using hardware::Ability;
using hardware::Description;
using hardware::Number;
using hardware::Unit;

struct HardwareOptions
{
    std::string name;
    bool measure = false;
    bool json = false;
};

std::string numberText(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%g", value);
    return text.data();
}

std::string numberText(const std::optional<double> &value, const std::string &unit)
{
    return value ? numberText(*value) + ' ' + unit : "unknown";
}

/// "native 16, sums in float32"
std::string abilityText(const Ability &ability)
{
    if (ability.support == hardware::Support::No)
        return "-";
    std::string sums;
    for (const tensor::DType type : ability.accumulate)
        sums += (sums.empty() ? "" : "/") + std::string(tensor::nameOf(type));
    return std::string(hardware::nameOf(ability.support)) + " x" + numberText(ability.rate) + ' ' + sums;
}

/// "int8 bf16": those in which convolutions or products are faster than in float32, fastest first.
std::string fastNumbers(const Description &chip)
{
    std::string text;
    for (const Number number : chip.fastNumbers())
        text += (text.empty() ? "" : " ") + std::string(hardware::nameOf(number));
    return text.empty() ? "-" : text;
}

void list(bool asJson)
{
    const results::Chips chips = results::listedChips();
    if (asJson) {
        printJson(results::hardwareJson(chips));
        return;
    }
    Table table({"name", "kind", "fast in", "title"});
    for (const auto &chip : chips.all) {
        const char *const mark = chip->name == chips.machine ? " (this)"
            : chip->name == chips.gpu                        ? " (this-gpu)"
                                                             : "";
        table.add({chip->name + mark, chip->kind, fastNumbers(*chip), chip->title});
    }
    print(table.toString());
}

/// How fast a machine was found to be, by unit and type.
std::string measuredText(const hardware::Measurement &found)
{
    Table table({"measured", "fp16", "bf16", "int8"});
    bool hasFigures = false;
    for (const Unit unit : hardware::kAllUnits) {
        std::vector<std::string> row{std::string(hardware::nameOf(unit))};
        bool isAny = false;
        for (const Number number : {Number::Fp16, Number::Bf16, Number::Int8}) {
            const auto &speed = found.of(unit, number);
            isAny = isAny || speed;
            std::array<char, 32> text{};
            std::snprintf(text.data(), text.size(), "x%.2f", speed.value_or(0));
            row.emplace_back(speed ? text.data() : "-");
        }
        if (isAny)
            table.add(std::move(row));
        hasFigures = hasFigures || isAny;
    }
    return "\ntimes as fast as float32, on " + printable(found.machine) + ", " + printable(found.when) + '\n'
        + (hasFigures ? table.toString()
                      : "none could be measured reliably; close other programs and repeat with --measure\n");
}

void show(const Description &chip)
{
    Table head;
    head.add({"name", printable(chip.name)});
    head.add({"title", printable(chip.title)});
    head.add({"kind", chip.kind});
    head.add({"float32", numberText(chip.gigaflops, "Gflop/s")});
    head.add({"memory", numberText(chip.bandwidth, "GB/s")});
    head.add({"casts",
              (chip.fusesCasts ? "free at products; alone: " : "alone: ") + printable(chip.standaloneCast)});
    if (!chip.note.empty())
        head.add({"note", printable(chip.note)});
    std::vector<std::string> titles{"unit"};
    for (const Number number : hardware::kAllNumbers)
        titles.emplace_back(hardware::nameOf(number));
    Table table(titles);
    for (const Unit unit : hardware::kAllUnits) {
        std::vector<std::string> row{std::string(hardware::nameOf(unit))};
        for (const Number number : hardware::kAllNumbers)
            row.push_back(abilityText(chip.ability(unit, number)));
        table.add(std::move(row));
    }
    const std::string found = chip.measurement ? measuredText(*chip.measurement) : std::string();
    std::string sources;
    for (const hardware::Source &source : chip.sources)
        sources += "  " + printable(source.fact) + " (" + printable(source.document) + ")\n";
    print(head.toString() + '\n' + table.toString() + found + "\nsources\n" + sources);
}

/// What is at hand is measured once, or again where that is asked for.
Result<void> measure(const HardwareOptions &options, const std::stop_token &stop)
{
    if (!options.measure)
        return machines::ensureMeasured(options.name, progress(stop));
    if (options.name != hardware::kThis && options.name != hardware::kThisGpu)
        return badCall("--measure", "only the hardware of this machine can be measured",
                       "; use this or this-gpu");
    HALFTONE_CHECK(machines::findChip(options.name)); // says what is not there
    return machines::remeasure(options.name, progress(stop));
}

Result<void> hardwareCommand(const HardwareOptions &options, const std::stop_token &stop)
{
    HALFTONE_CHECK(measure(options, stop));
    if (options.name.empty()) {
        list(options.json);
        return {};
    }
    HALFTONE_TRY(const auto chip, machines::findChip(options.name));
    if (options.json)
        print(hardware::writeDescription(*chip));
    else
        show(*chip);
    return {};
}

} // namespace

void addHardware(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<HardwareOptions>();
    Command command = app.command("hardware", "List the described chips, or show one");
    command
        .option("NAME", &options->name,
                "A name from the list, this (this machine's processor), this-gpu (its GPU) or a file "
                "(default: list all)")
        .type("");
    command.flag(
        "--measure", options->measure,
        "With this or this-gpu: measure the speed in each type again instead of using the stored result");
    command.flag("--json", options->json, "Print as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &stop) { return hardwareCommand(*options, stop); };
    });
}

} // namespace halftone::cli
