#include "core/tune/limit_text.h"

#include <charconv>

namespace halftone::tune {

std::optional<Limit> limitNamed(std::string_view text)
{
    using Metric = Limit::Metric;
    const std::size_t at = text.find('=');
    const std::string_view name = text.substr(0, at);
    if (at == std::string_view::npos || (name != "sqnr" && name != "top1"))
        return std::nullopt;
    text.remove_prefix(at + 1);
    Limit limit{name == "sqnr" ? Metric::Sqnr : Metric::Top1, 0};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit.value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return limit;
}

} // namespace halftone::tune
