#pragma once

#include "core/base/field.h"

#include <cassert>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace halftone {

/// What kind of failure an Error is; the command line turns it into its exit code (app/README.md, "Exit codes").
enum class Errc
{
    BadInput, ///< a file, field or value is wrong (exit 1)
    BadCall, ///< the caller asked for something that makes no sense (exit 2)
    Unsupported, ///< right, but this build or machine cannot do it (exit 3)
    NoMemory, ///< it takes more memory, or more threads, than there are (exit 3)
    Cancelled, ///< the user stopped it (exit 130)
};

/// One failure, in the four parts that make it actionable.
struct Error
{
    Errc code = Errc::BadInput;
    std::string file; ///< path of the file it is about; empty when it is about none
    std::string where; ///< byte offset, JSON path or node name
    std::string found; ///< what is there
    std::string expected; ///< what should be there; empty when `found` says it all
    Field field = Field::None; ///< the caller's setting that is wrong; `where` is then a part of it
    Field remedy = Field::None; ///< another setting that would help
    std::string remedyValue = {}; ///< and its value

    /// "FILE: FIELD WHERE: found, expected …, or REMEDY VALUE" on one line: control characters in names from files are escaped.
    std::string message(FieldNames names = nameOf) const;
};

inline Error badInput(std::string where, std::string found, std::string expected = {})
{
    return {Errc::BadInput, {}, std::move(where), std::move(found), std::move(expected)};
}

inline Error badCall(std::string where, std::string found, std::string expected = {})
{
    return {Errc::BadCall, {}, std::move(where), std::move(found), std::move(expected)};
}

inline Error unsupported(std::string where, std::string found, std::string expected = {})
{
    return {Errc::Unsupported, {}, std::move(where), std::move(found), std::move(expected)};
}

/// The same of a setting.
inline Error badInput(Field field, std::string found, std::string expected = {})
{
    return {Errc::BadInput, {}, {}, std::move(found), std::move(expected), field};
}

inline Error badCall(Field field, std::string found, std::string expected = {})
{
    return {Errc::BadCall, {}, {}, std::move(found), std::move(expected), field};
}

inline Error unsupported(Field field, std::string found, std::string expected = {})
{
    return {Errc::Unsupported, {}, {}, std::move(found), std::move(expected), field};
}

inline Error noMemory(std::string found)
{
    return {Errc::NoMemory, {}, {}, std::move(found), {}};
}

inline Error cancelled()
{
    return {Errc::Cancelled, {}, {}, "stopped", {}};
}

/// A value or the reason why there is none. Cannot be ignored, and is not convertible to bool by accident.
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value))
    {
    }
    Result(Error error)
        : m_state(std::in_place_index<1>, std::move(error))
    {
    }

    bool ok() const { return m_state.index() == 0; }
    const T &value() const & { return assert(ok()), *std::get_if<0>(&m_state); }
    T &value() & { return assert(ok()), *std::get_if<0>(&m_state); }
    /// By value, so that a loop over a temporary result has something to hold on to.
    T value() && { return assert(ok()), std::move(*std::get_if<0>(&m_state)); }
    const Error &error() const & { return assert(!ok()), *std::get_if<1>(&m_state); }
    Error &&error() && { return assert(!ok()), std::move(*std::get_if<1>(&m_state)); }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error)
        : m_error(std::move(error))
    {
    }

    bool ok() const { return !m_error.has_value(); }
    const Error &error() const & { return assert(!ok()), *m_error; }
    Error &&error() && { return assert(!ok()), std::move(*m_error); }

private:
    std::optional<Error> m_error;
};

/// Adds the file's path to an error that a parser of bare bytes could not know.
inline Error inFile(Error error, const std::string &path)
{
    if (error.file.empty())
        error.file = path;
    return error;
}

/// Adds the setting that an error is about, where it names none.
inline Error inField(Error error, Field field)
{
    if (error.field == Field::None)
        error.field = field;
    return error;
}

/// Adds what would help, too.
inline Error orElse(Error error, Field remedy, std::string value)
{
    error.remedy = remedy;
    error.remedyValue = std::move(value);
    return error;
}

} // namespace halftone

#define HALFTONE_CONCAT_(a, b) a##b
#define HALFTONE_CONCAT(a, b) HALFTONE_CONCAT_(a, b)
#define HALFTONE_TRY_(result, declaration, expression)                                                       \
    auto result = (expression);                                                                              \
    if (!result.ok())                                                                                        \
        return std::move(result).error();                                                                    \
    declaration = std::move(result).value()

/// HALFTONE_TRY(auto graph, readSymbol(bytes)): the value, or an early return of the error.
#define HALFTONE_TRY(declaration, expression)                                                                \
    HALFTONE_TRY_(HALFTONE_CONCAT(result_, __LINE__), declaration, expression)

/// For calls that give no value.
#define HALFTONE_CHECK(expression)                                                                           \
    do {                                                                                                     \
        if (auto outcome = (expression); !outcome.ok())                                                      \
            return std::move(outcome).error();                                                               \
    } while (false)
