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
    BadCall, ///< the request is invalid
    Unsupported, ///< valid, but not supported by this build or machine
    NoMemory, ///< not enough memory or threads
    Cancelled, ///< stopped through Progress::stop
};

/// The reason for a failure. Nothing here throws; running out of memory is an error too.
struct Error
{
    ErrorKind kind = ErrorKind::BadInput;
    std::string file; ///< the file concerned; empty: none
    std::string setting; ///< the setting of the call, e.g. "inputs"; empty: none
    std::string place; ///< in the file or setting: an offset, a JSON path or a node name; may be empty
    std::string found; ///< what was found
    std::string expected; ///< what was expected, or what to do; may be empty
    std::string message; ///< everything on one line, ready to show
};

/// A value or an error.
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

/// Lets a caller follow and cancel a long call. By default it does neither.
struct Progress
{
    std::stop_token
        stop; ///< on request, the call returns ErrorKind::Cancelled, usually within a tenth of a second
    /// Called often, on the calling thread, with the completed share (0 to 1) and the current step.
    std::function<void(double share, std::string_view what)> report = {};
};

} // namespace halftone::api
