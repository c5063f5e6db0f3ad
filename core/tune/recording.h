#pragma once

#include "core/tune/oracle.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::tune {

/// All that an oracle has said in one search, so that the next one need not ask again: a search over a record gives the same points.
struct Record
{
    std::string basis; ///< what was asked about: model, data, policy, machine. Others' records are of no use
    std::optional<Network> network;
    std::map<std::pair<std::size_t, Label>, double> alone; ///< errors by group and label
    std::map<Labels, Measurement> measured;
    std::map<Labels, Measurement> confirmed; ///< the same, timed once more
    std::map<Labels, double> estimated; ///< errors by a few examples
    /// Of the network's links, in their order, once they were timed; what the network says of them stays the guess that was gone by before.
    std::optional<std::vector<ConversionPrices>> conversions{};
    std::optional<Network> sketch{}; ///< where a search began with one
    std::map<Labels, Measurement> sketched{}; ///< what was measured by its groups
};

/// As JSON: {version, basis, network{wide_ms, groups, links, conversions_us, widened_us, codes_us}, alone, glances, measured, confirmed,
/// sketch{wide_ms, groups, links, measured}}.
std::string writeRecord(const Record &record);
/// fails: BadInput for what is no record, with the JSON path, and for one of another version
Result<Record> readRecord(std::string_view json);

/// Forgets what a search need ask again for times to be trusted: points that were disturbed or whose time is not known; all, where the
/// times of the layers were disturbed, by which everything was chosen.
void forgetUnreliable(Record &record, const Front &found);

/// Labels as text, a letter a group: f(loat32), t(arget), 8.
std::string textOf(const Labels &labels);

/// Asks another oracle what it does not know yet, and writes down each answer: killed at any moment, it has lost the one that was
/// being found.
class RecordingOracle final : public Oracle
{
public:
    /// file  where the record is kept, written anew after each answer; empty: nowhere
    RecordingOracle(Oracle &inner, Record record, std::string file);

    Result<std::optional<Network>> sketch(const Progress &progress) override;
    Result<Network> profile(const Progress &progress) override;
    Result<std::optional<std::vector<Link>>> timeConversions(const Progress &progress) override;
    void resume(const Network &network) override { m_inner.resume(network); }
    /// What was recorded is told again, whoever is asked for the rest.
    bool canEstimate() const override { return m_inner.canEstimate() || !m_record.estimated.empty(); }
    Result<double> estimate(const Labels &labels, const Progress &progress) override;
    Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) override;
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override;
    Result<Measurement> confirm(const Labels &labels, const Measurement &measured,
                                const Progress &progress) override;

    const Record &record() const { return m_record; }

private:
    Result<void> keep() const;
    Network timedNetwork() const;

    Oracle &m_inner;
    Record m_record;
    std::string m_file;
    bool m_isSketching = false; ///< labels are those of the sketch's groups
};

} // namespace halftone::tune
