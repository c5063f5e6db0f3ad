#include "core/mixed/restrict_to_hardware.h"

#include "core/mixed/node_arithmetic.h"

#include <optional>

namespace halftone::mixed {
namespace {

using hardware::Support;
using hardware::Unit;
using policy::Rule;

/// "conv16 has no float16 elementwise unit"
std::string hasNone(const hardware::Description &chip, tensor::DType type, Unit unit)
{
    return chip.name + " has no " + std::string(tensor::nameOf(type)) + ' '
        + std::string(hardware::nameOf(unit)) + " unit";
}

class Restriction
{
public:
    Restriction(const hardware::Description &chip, tensor::DType target, policy::Assignment &assignment)
        : m_chip(chip)
        , m_target(target)
        , m_assignment(assignment)
    {
    }

    void look(graph::NodeId id, Unit unit)
    {
        policy::Decision &decision = m_assignment.inFloat(id);
        if (policy::isChosen(decision))
            return;
        const Support support = m_chip.support(unit, m_target);
        const policy::Request request = policy::requestOf(decision.rule);
        if (support == Support::No && request != policy::Request::Fp32)
            decision = {Rule::Hardware, entryOf(unit, support)};
        else if (support != Support::Native && request == policy::Request::Target)
            decision = {Rule::HardwareStorage, entryOf(unit, support)};
    }

private:
    /// "hardware: conv16 has no float16 elementwise unit"
    std::uint32_t entryOf(Unit unit, Support support)
    {
        std::optional<std::uint32_t> &entry = m_entries[static_cast<std::size_t>(unit)];
        if (entry)
            return *entry;
        const std::string type(tensor::nameOf(m_target));
        const std::string name(hardware::nameOf(unit));
        std::string text = "hardware: ";
        text += support == Support::No ? hasNone(m_chip, m_target, unit)
            : support == Support::Storage
            ? m_chip.name + " stores " + type + " in its " + name + " unit, but computes in float32"
            : m_chip.measuredSpeed(unit, m_target).value_or(1) < 1
            ? m_chip.name + " is slower in " + type + " than in float32 in its " + name + " unit, as measured"
            : m_chip.name + " emulates " + type + " in its " + name + " unit";
        entry = static_cast<std::uint32_t>(m_assignment.entries.size());
        m_assignment.entries.push_back(std::move(text));
        return *entry;
    }

    const hardware::Description &m_chip;
    tensor::DType m_target;
    policy::Assignment &m_assignment;
    std::array<std::optional<std::uint32_t>, hardware::kUnits> m_entries;
};

} // namespace

void restrictToHardware(const graph::Graph &graph, const hardware::Description &chip, tensor::DType target,
                        policy::Assignment &assignment)
{
    Restriction taker(chip, target, assignment);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) || assignment.rule(id) == Rule::Coded)
            continue;
        if (const auto unit = unitOf(graph, id))
            taker.look(id, *unit);
    }
}

std::vector<std::string> refusalsOfCodes(const graph::Graph &graph, const hardware::Description &chip)
{
    std::vector<std::string> refusals(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto unit = graph.isVariable(id) ? std::nullopt : unitOf(graph, id);
        if (unit && chip.support(*unit, tensor::DType::I8) == Support::No)
            refusals[id] = hasNone(chip, tensor::DType::I8, *unit);
    }
    return refusals;
}

} // namespace halftone::mixed
