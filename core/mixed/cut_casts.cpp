#include "core/mixed/cut_casts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;
using Choice = CastProblem::Choice;
using Term = CastProblem::Term;

/// Gives the operator's floats that type.
void applyChoice(TypedLevel &level, const CastProblem &problem, const Choice &choice, DType type)
{
    TypedPlan &plan = level.plan;
    for (const std::uint32_t i : problem.tiedOf(choice))
        plan.reads[plan.firstInput[choice.node] + i] = type;
    for (std::uint32_t k = 0; k < level.rules.outputCount(choice.node); ++k) {
        DType &native = plan.native[plan.firstOutput[choice.node] + k];
        if (rewrite::isCastable(native))
            native = type;
    }
    plan.moved.push_back({choice.node, type});
}

class Pricer
{
public:
    Pricer(const CastProblem &problem, const std::vector<bool> &isHalf, DType target)
        : m_problem(problem)
        , m_isHalf(isHalf)
    {
        for (std::size_t k = 0; k < problem.choices.size(); ++k) {
            const DType type = isHalf[k] ? target : DType::F32;
            m_prices.push_back({problem.choices[k].node, type, isHalf[k] ? DType::F32 : target, 0, 0, false});
        }
    }

    std::vector<rewrite::TypeChoice> take()
    {
        for (const CastProblem::Tensor &tensor : m_problem.tensors)
            add(tensor);
        for (const auto &[node, other] : m_problem.required)
            look(node, other);
        return std::move(m_prices);
    }

private:
    /// Readers of one tensor.
    struct Counts
    {
        std::size_t half = 0;
        std::size_t float32 = 0;
    };

    bool isChoice(Term term) const { return term >= CastProblem::kFirst && !m_problem.isVariable(term); }
    bool isHalf(Term term) const
    {
        return isChoice(term) ? m_isHalf[term - CastProblem::kFirst] : term == TypeCut::kHalf;
    }

    int castsOf(Term producer, bool producerIsHalf, const Counts &readers) const
    {
        if (m_problem.isVariable(producer)) // it is stored as most suits
            return readers.half > 0 && readers.float32 > 0 ? 1 : 0;
        return (producerIsHalf ? readers.float32 : readers.half) > 0 ? 1 : 0;
    }

    void price(Term term, int casts, const CastProblem::Tensor &tensor)
    {
        rewrite::TypeChoice &price = m_prices[term - CastProblem::kFirst];
        price.casts += casts;
        price.bytes += casts * tensor.bytes;
    }

    void add(const CastProblem::Tensor &tensor)
    {
        const auto readers = m_problem.readersOf(tensor);
        Counts now;
        for (const Term reader : readers)
            ++(isHalf(reader) ? now.half : now.float32);
        const bool producerIsHalf = isHalf(tensor.producer);
        const int casts = castsOf(tensor.producer, producerIsHalf, now);
        if (isChoice(tensor.producer))
            price(tensor.producer, castsOf(tensor.producer, !producerIsHalf, now) - casts, tensor);
        for (std::size_t k = 0; k < readers.size();) { // one node's reads stand side by side
            const Term reader = readers[k];
            std::size_t end = k;
            while (end < readers.size() && readers[end] == reader)
                ++end;
            if (isChoice(reader)) {
                Counts other = now;
                (isHalf(reader) ? other.half : other.float32) -= end - k;
                (isHalf(reader) ? other.float32 : other.half) += end - k;
                price(reader, castsOf(tensor.producer, producerIsHalf, other) - casts, tensor);
            }
            k = end;
        }
    }

    /// Where `node` is 16 bit, so must `other` be.
    void look(Term node, Term other)
    {
        if (isChoice(node) && !isHalf(node) && !isHalf(other))
            m_prices[node - CastProblem::kFirst].losesBits = true;
        if (isChoice(other) && isHalf(node) && isHalf(other))
            m_prices[other - CastProblem::kFirst].losesBits = true;
    }

    const CastProblem &m_problem;
    const std::vector<bool> &m_isHalf;
    std::vector<rewrite::TypeChoice> m_prices;
};

} // namespace

std::vector<rewrite::TypeChoice> pricesOf(const CastProblem &problem, const std::vector<bool> &isHalf,
                                          DType target)
{
    return Pricer(problem, isHalf, target).take();
}

void cutCasts(TypedLevel &root, const CastContext &context)
{
    const CastProblem problem = castProblem(root, context);
    if (problem.choices.empty())
        return;
    const std::vector<bool> isHalf = solved(problem);
    const auto prices = pricesOf(problem, isHalf, context.target);
    std::vector<TypedLevel *> levels;
    forLevels(root, [&levels](TypedLevel &level) { levels.push_back(&level); });
    std::set<std::pair<std::uint32_t, NodeId>> changed;
    for (std::size_t k = 0; k < isHalf.size(); ++k) {
        const Choice &choice = problem.choices[k];
        TypedLevel &level = *levels[choice.level];
        const DType type = isHalf[k] ? context.target : DType::F32;
        if (choice.port != TypedFlow::kNoPort) {
            std::ranges::find(level.flows, choice.node, &TypedFlow::node)->ports[choice.port].type = type;
            continue;
        }
        level.plan.choices.push_back(prices[k]);
        if (type == choice.type)
            continue;
        applyChoice(level, problem, choice, type);
        changed.emplace(choice.level, choice.node);
    }
    for (std::uint32_t number = 0; number < levels.size(); ++number) {
        TypedLevel &level = *levels[number];
        for (TypedFlow &flow : level.flows)
            applyPorts(level, flow);
        std::erase_if(level.plan.notes, [&](const rewrite::NodeNote &one) {
            return changed.contains({number, one.node});
        });
    }
}

} // namespace halftone::mixed
