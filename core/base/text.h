#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// `text` safe to show on one line: control characters (those of Unicode too) and broken UTF-8 as \xNN,
/// marks as withoutMarks() writes them, and at most `limit` bytes
/// (then "…").
std::string printable(std::string_view text, std::size_t limit = 400);

/// `text` with the marks that change how what stands around them is read as \uNNNN: those that turn the direction of writing
/// (Unicode Standard Annex 9, section 2) and those that end a line or paragraph. The rest stays, and need not be UTF-8.
std::string withoutMarks(std::string_view text);

bool isUtf8(std::string_view text);

/// `text` with the letters A to Z as a to z.
std::string lowerCase(std::string_view text);

/// Up to three of `candidates` that `name` was most likely meant to be, nearest first (edit distance, case
/// folded). Empty when none is near. Cost is bounded: names over 256 bytes have no near match.
std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string_view> candidates);

/// " (did you mean a, b?)", or nothing when `names` is empty: the tail of an error about an unknown name.
std::string didYouMean(std::span<const std::string> names);

/// "a, b, c", at most `limit` of them and then "and N more".
std::string joined(std::span<const std::string> names, std::size_t limit = 8);

/// The whole of `text` as a number; nothing when a character is left over or the value does not fit.
std::optional<std::int64_t> parseInteger(std::string_view text);
std::optional<double> parseReal(std::string_view text);

std::string_view trimmed(std::string_view text);

std::string humanBytes(std::uint64_t bytes); ///< "97.8 MiB"
std::string grouped(std::uint64_t count); ///< "28,800"

} // namespace halftone
