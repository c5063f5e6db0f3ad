#include "core/policy/pattern.h"

#include <algorithm>
#include <utility>

namespace halftone::policy {

bool Pattern::matches(std::string_view name) const
{
    Scratch scratch;
    return matches(name, scratch);
}

bool Pattern::matches(std::string_view name, Scratch &scratch) const
{
    scratch.m_seen.resize(std::max(scratch.m_seen.size(), m_states.size()));
    scratch.m_current.clear();
    ++scratch.m_step;
    for (std::size_t at = 0;; ++at) {
        // The match may start at every place: the first state joins those that are under way.
        if (add(m_first, at, name.size(), scratch.m_current, scratch))
            return true;
        if (at == name.size())
            return false;
        ++scratch.m_step;
        scratch.m_next.clear();
        const auto byte = static_cast<unsigned char>(name[at]);
        for (const std::uint32_t id : scratch.m_current) {
            const State &state = m_states[id];
            if (m_sets[state.other].test(byte)
                && add(state.next, at + 1, name.size(), scratch.m_next, scratch))
                return true;
        }
        std::swap(scratch.m_current, scratch.m_next);
    }
}

/// Puts the byte states that `state` leads to without reading into `list`; true when the match is reached.
bool Pattern::add(std::uint32_t state, std::size_t at, std::size_t length, std::vector<std::uint32_t> &list,
                  Scratch &scratch) const
{
    scratch.m_pending.assign(1, state);
    while (!scratch.m_pending.empty()) {
        const std::uint32_t id = scratch.m_pending.back();
        scratch.m_pending.pop_back();
        if (std::exchange(scratch.m_seen[id], scratch.m_step) == scratch.m_step)
            continue;
        const State &here = m_states[id];
        switch (here.kind) {
        case State::Kind::Match:
            return true;
        case State::Kind::Bytes:
            list.push_back(id);
            break;
        case State::Kind::Fork:
            scratch.m_pending.push_back(here.other);
            scratch.m_pending.push_back(here.next);
            break;
        case State::Kind::Pass:
            scratch.m_pending.push_back(here.next);
            break;
        case State::Kind::Start:
            if (at == 0)
                scratch.m_pending.push_back(here.next);
            break;
        case State::Kind::End:
            if (at == length)
                scratch.m_pending.push_back(here.next);
            break;
        }
    }
    return false;
}

} // namespace halftone::policy
