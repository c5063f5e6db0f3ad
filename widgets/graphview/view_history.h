#pragma once

#include "widgets/graphview/camera.h"

#include <vector>

namespace halftone::widgets {

/// Which blocks were open and what was seen.
struct View
{
    std::vector<char> open;
    Camera camera;
};

/// The views that a person has been at, as in a browser.
class ViewHistory
{
public:
    void clear()
    {
        m_back.clear();
        m_forward.clear();
    }
    bool canGoBack() const { return !m_back.empty(); }
    bool canGoForward() const { return !m_forward.empty(); }
    /// A new view follows `left`.
    void leave(View left)
    {
        m_forward.clear();
        if (m_back.size() >= kMost)
            m_back.erase(m_back.begin());
        m_back.push_back(std::move(left));
    }
    /// Needs canGoBack(), canGoForward().
    View goBack(View left) { return swap(m_back, m_forward, std::move(left)); }
    View goForward(View left) { return swap(m_forward, m_back, std::move(left)); }

private:
    static constexpr std::size_t kMost = 200;

    static View swap(std::vector<View> &from, std::vector<View> &to, View left)
    {
        View view = std::move(from.back());
        from.pop_back();
        to.push_back(std::move(left));
        return view;
    }

    std::vector<View> m_back;
    std::vector<View> m_forward;
};

} // namespace halftone::widgets
