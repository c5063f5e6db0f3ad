// How much of the best possible gain tune's search finds: bench_tune MODEL DATA EXAMPLES bf16|int8 [GROUPS]. DATA: an .npz or a folder of
// pictures (the rules of its model beside it). Of a small model's groups the GROUPS (12) that take longest are left free, all others stay
// float32; every assignment of two labels is compared, its time is the sum of recorded ones, and so the best for a limit is known. A limit that
// all or none of the assignments meet tells nothing: beside 20, 30 and 40 dB (as far as they lie between) three levels are taken that do.
#include "core/session/session.h"
#include "core/tune/model_oracle.h"
#include "core/tune/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

using namespace halftone;
using tune::Label;
using tune::Labels;
using tune::Measurement;

namespace {

template <class T>
T take(Result<T> result)
{
    if (!result.ok()) {
        std::fprintf(stderr, "error: %s\n", result.error().message().c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

/// What every assignment was compared to be; times are sums.
class Table final : public tune::Oracle
{
public:
    Table(tune::Network network, std::map<Labels, Measurement> all)
        : m_network(std::move(network))
        , m_all(std::move(all))
    {
    }

    Result<tune::Network> profile(const Progress & /*progress*/) override { return m_network; }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t group, Label label, const Progress & /*progress*/) override
    {
        Labels labels;
        for (const tune::Group &one : m_network.groups)
            labels.push_back(one.costs.widest());
        labels[group] = label;
        return tune::errorOf(m_all.at(labels).sqnrDb);
    }
    Result<Measurement> measure(const Labels &labels, const Progress & /*progress*/) override
    {
        // What only follows has no error of its own, and was not listed label by label.
        Labels key = labels;
        for (std::size_t k = 0; k < key.size(); ++k)
            if (!m_network.groups[k].isTunable)
                key[k] = m_network.groups[k].costs.widest();
        Measurement measured = m_all.at(key);
        measured.milliseconds = sums().microseconds(labels) / 1e3;
        measured.ratio = measured.milliseconds / m_network.wideMs;
        return measured;
    }

    tune::Surrogate sums() const
    {
        tune::Surrogate sums;
        for (const tune::Group &group : m_network.groups)
            sums.groups.push_back(group.costs);
        sums.links = m_network.links;
        return sums;
    }
    const std::map<Labels, Measurement> &all() const { return m_all; }

private:
    tune::Network m_network;
    std::map<Labels, Measurement> m_all;
};

/// All groups but the slowest so many stay as wide as they are.
void leaveFree(tune::Network &network, std::size_t most, Label label)
{
    std::vector<std::size_t> tunable;
    for (std::size_t k = 0; k < network.groups.size(); ++k)
        if (network.groups[k].isTunable && network.groups[k].costs.allows(label))
            tunable.push_back(k);
    std::ranges::stable_sort(tunable, std::greater(),
                             [&](std::size_t k) { return network.groups[k].costs.microseconds[0]; });
    for (std::size_t k = 0; k < network.groups.size(); ++k) {
        tune::Group &group = network.groups[k];
        const auto rank = std::ranges::find(tunable, k) - tunable.begin();
        const bool isFree = static_cast<std::size_t>(rank) < std::min(most, tunable.size());
        if (isFree) {
            for (const Label other : tune::kLabels)
                group.costs.isAllowed[static_cast<std::size_t>(other)]
                    = other == label || other == Label::Float32;
        } else if (group.isTunable) {
            group.isTunable = false;
            group.whyFixed = "left out";
            group.costs.isAllowed = {true, false, false};
            group.isErrorKnown = true;
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 5)
        return std::fprintf(stderr, "bench_tune MODEL DATA EXAMPLES bf16|int8 [GROUPS]\n"), 2;
    const Label label = std::string_view(argv[4]) == "int8" ? Label::Int8 : Label::Target;
    const std::size_t most = argc > 5 ? std::strtoul(argv[5], nullptr, 10) : 12;
    session::Session session = take(session::Session::open(argv[1], {}));
    tune::TuneTask task;
    task.compare.examples.inputs = argv[2];
    task.compare.examples.examples = std::strtoul(argv[3], nullptr, 10);
    for (const auto &[name, shape] :
         take(walks::shapesOfOne(task.compare.examples, session.source().model, session.source().modelPath)))
        if (const auto set = session.setInputShape(name, shape); !set.ok())
            return std::fprintf(stderr, "error: %s\n", set.error().message().c_str()), 1;
    std::vector<std::string> notes;
    task.source = session.sharedSource();
    task.shapes = std::make_shared<const infer::ShapeMap>(take(session.shapes(notes)));
    policy::Policy policy;
    policy.target = tensor::DType::BF16;
    task.policy = std::make_shared<const policy::Policy>(policy);
    task.hasInt8 = label == Label::Int8;
    tune::ModelOracle oracle(task);
    tune::Network network = take(oracle.profile({}));
    leaveFree(network, most, label);
    tune::Surrogate sums;
    for (const tune::Group &group : network.groups)
        sums.groups.push_back(group.costs);
    sums.links = network.links;
    network.wideMs = sums.microseconds(sums.widest()) / 1e3;
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < network.groups.size(); ++k)
        if (network.groups[k].isTunable)
            free.push_back(k);
    std::map<Labels, Measurement> all;
    std::vector<std::pair<double, double>> figures; // dB, ms
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t choice = 0; choice < std::size_t{1} << free.size(); ++choice) {
        Labels labels = sums.widest();
        for (std::size_t k = 0; k < free.size(); ++k)
            if ((choice >> k & 1) != 0)
                labels[free[k]] = label;
        const Measurement measured = take(oracle.compare(labels, {}));
        figures.emplace_back(measured.isClean ? measured.sqnrDb : -1,
                             sums.microseconds(sums.completed(labels)) / 1e3);
        all.emplace(std::move(labels), measured);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double lowest = std::ranges::min(figures).first;
    std::printf("%s: %zu groups free, %zu assignments compared in %.1f s, all lowered %.1f dB\n", argv[1],
                free.size(), figures.size(), seconds, lowest);
    std::vector<double> limits{20, 30, 40};
    std::erase_if(limits, [&](double limit) { return limit <= lowest; });
    std::vector<double> sorted;
    for (const auto &[decibels, ms] : figures)
        if (std::isfinite(decibels))
            sorted.push_back(decibels);
    std::ranges::sort(sorted);
    for (const double share : {0.1, 0.4, 0.8})
        limits.push_back(sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))]);
    for (const double limit : limits) {
        Table table(network, all);
        tune::SearchSettings settings;
        settings.limit = tune::Limit{tune::Limit::Metric::Sqnr, limit};
        const tune::Front front = take(tune::search(table, settings));
        double best = network.wideMs;
        for (const auto &[decibels, ms] : figures)
            best = decibels >= limit ? std::min(best, ms) : best;
        const auto picked = tune::pick(front, tune::Pick::FastestWithin, settings.limit);
        const double found = picked ? front.points[*picked].measured->milliseconds : network.wideMs;
        if (network.wideMs - best < 1e-9)
            std::printf("  %5.1f dB: nothing can be gained\n", limit);
        else
            std::printf("  %5.1f dB: %.4f of the best gain, %zu networks measured\n", limit,
                        (network.wideMs - found) / (network.wideMs - best), front.evaluations);
    }
    return 0;
}
