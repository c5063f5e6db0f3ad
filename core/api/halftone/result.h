#pragma once

#include <cassert>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace halftone::api {

enum class ErrorKind
{
    BadInput, ///< a file or a value in it is wrong
    BadCall, ///< what is asked for makes no sense
    Unsupported, ///< right, but this build or machine cannot do it
    NoMemory, ///< it takes more memory, or more threads, than there are
    Cancelled, ///< Progress::stop was asked to
};

/// Why something could not be done. Nothing here throws: want of memory comes as an error, too.
struct Error
{
    ErrorKind kind = ErrorKind::BadInput;
    std::string file; ///< it is about; empty: none
    std::string setting; ///< of the call, in words: "inputs"; empty: none
    std::string place; ///< in the file or the setting: an offset, a JSON path, a node's name; may be empty
    std::string found; ///< what is there
    std::string expected; ///< what should be there; may be empty
    std::string message; ///< all of it on one line, ready to be shown
};

/// A value or the reason why there is none.
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
    /// Needs: ok()
    const T &value() const & { return assert(ok()), *std::get_if<0>(&m_state); }
    T value() && { return assert(ok()), std::move(*std::get_if<0>(&m_state)); }
    /// Needs: not ok()
    const Error &error() const { return assert(!ok()), *std::get_if<1>(&m_state); }

private:
    std::variant<T, Error> m_state;
};

/// How a caller follows a long call and ends it. By default it does neither.
struct Progress
{
    std::stop_token
        stop; ///< asked to, the call gives ErrorKind::Cancelled, mostly within a tenth of a second
    /// Called with the share done, 0 to 1, and what is being done: often, and on the thread that called.
    std::function<void(double share, std::string_view what)> report = {};
};

} // namespace halftone::api
