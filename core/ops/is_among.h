#pragma once

#include <type_traits>

namespace halftone::ops {

/// Is T one of these types?
template <class T, class... Ts>
inline constexpr bool kIsAmong = (std::is_same_v<T, Ts> || ...);

} // namespace halftone::ops
