#pragma once

#include "core/base/field.h"

#include <cassert>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace halftone {

/// The kind of an Error; the command line maps it to an exit code (app/README.md, "Exit codes").
enum class Errc
{
    BadInput, ///< a file, field or value is wrong (exit 1)
    BadCall, ///< the call is invalid (exit 2)
    Unsupported, ///< valid, but not supported by this build or machine (exit 3)
    NoMemory, ///< not enough memory or threads (exit 3)
    Cancelled, ///< the user stopped it (exit 130)
};

/// A failure: where it is, what was found, and what was expected or what to do.
struct Error
{
    Errc code = Errc::BadInput;
    std::string file; ///< path of the file concerned; empty: none
    std::string where; ///< byte offset, JSON path or node name
    std::string found; ///< what was found
    std::string expected; ///< what was expected, or "; " and what to do; empty if `found` suffices
    Field field = Field::None; ///< the wrong setting of the caller; `where` is then a part of it
    Field remedy = Field::None; ///< a setting that solves the problem
    std::string remedyValue = {}; ///< its value

    /// "FILE: FIELD WHERE: found, expected …, or set REMEDY VALUE" or "…: found; what to do" on one line, with control characters escaped.
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

/// The same for a setting.
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

/// A value or an error. Cannot be ignored, and does not convert to bool. A union of its own, because a std::variant would take a tenth of the
/// whole build: it is instantiated for every type that a function returns.
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value)
        : m_value(std::move(value))
        , m_ok(true)
    {
    }
    Result(Error error)
        : m_error(std::move(error))
        , m_ok(false)
    {
    }
    Result(const Result &other) requires std::is_copy_constructible_v<T> { construct(other); }
    Result(Result &&other) noexcept(std::is_nothrow_move_constructible_v<T>) { construct(std::move(other)); }
    Result &operator=(const Result &other) requires std::is_copy_constructible_v<T>
    {
        return *this = Result(other);
    }
    Result &operator=(Result &&other) noexcept
    {
        static_assert(std::is_nothrow_move_constructible_v<T>);
        if (this != &other) {
            destroy();
            construct(std::move(other));
        }
        return *this;
    }
    ~Result() { destroy(); }

    bool ok() const { return m_ok; }
    const T &value() const & { return assert(m_ok), m_value; }
    T &value() & { return assert(m_ok), m_value; }
    /// By value, so that a loop over a temporary result is safe.
    T value() && { return assert(m_ok), std::move(m_value); }
    const Error &error() const & { return assert(!m_ok), m_error; }
    Error &&error() && { return assert(!m_ok), std::move(m_error); }

private:
    template <class Other>
    void construct(Other &&other)
    {
        m_ok = other.m_ok;
        if (m_ok)
            new (&m_value) T(std::forward<Other>(other).m_value);
        else
            new (&m_error) Error(std::forward<Other>(other).m_error);
    }
    void destroy()
    {
        if (m_ok)
            m_value.~T();
        else
            m_error.~Error();
    }

    union
    {
        T m_value;
        Error m_error;
    };
    bool m_ok;
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

/// Adds the path of the file to an error of a parser that only saw bytes.
inline Error inFile(Error error, const std::string &path)
{
    if (error.file.empty())
        error.file = path;
    return error;
}

/// Adds the setting that an error concerns, if it names none.
inline Error inField(Error error, Field field)
{
    if (error.field == Field::None)
        error.field = field;
    return error;
}

/// Adds a setting that solves the problem.
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

/// For calls without a value.
#define HALFTONE_CHECK(expression)                                                                           \
    do {                                                                                                     \
        if (auto outcome = (expression); !outcome.ok())                                                      \
            return std::move(outcome).error();                                                               \
    } while (false)
