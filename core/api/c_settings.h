#pragma once

#include "core/api/c_inside.h"
#include "core/base/json.h"

#include "halftone/compare.h"
#include "halftone/profile.h"
#include "halftone/report.h"
#include "halftone/verify.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::api::c {

/// Reads a JSON object key by key. The first failure is kept, and later reads do nothing; finish() tells it.
class Settings
{
public:
    /// text  null: no settings
    explicit Settings(const char *text);

    void read(std::string_view key, std::string &value);
    void read(std::string_view key, bool &value);
    void read(std::string_view key, std::optional<bool> &value);
    void read(std::string_view key, double &value);
    void read(std::string_view key, std::optional<double> &value);
    void read(std::string_view key, std::vector<std::string> &value);
    void read(std::string_view key, std::map<std::string, Type> &value);
    void read(std::string_view key, std::map<std::string, Shape> &value);
    void read(std::string_view key, Type &value);
    void read(std::string_view key, std::optional<Type> &value);
    /// A whole number from 0 on.
    template <class Number>
    void readCount(std::string_view key, Number &value)
    {
        if (const auto number = count(key))
            value = static_cast<Number>(*number);
    }
    void readSeed(std::string_view key, std::optional<std::uint64_t> &value);
    /// "512MiB", "2GiB", or a number of MiB; in bytes.
    void readMemory(std::string_view key, std::size_t &value);
    /// "60s", "5m", "1h", or a number of seconds.
    void readTime(std::string_view key, double &value);
    /// One of several names.
    template <class Value>
    void readName(std::string_view key, Value &value,
                  std::initializer_list<std::pair<std::string_view, Value>> names)
    {
        std::string name;
        read(key, name);
        if (name.empty())
            return;
        std::string known;
        for (const auto &[one, meaning] : names) {
            if (one == name) {
                value = meaning;
                return;
            }
            known += (known.empty() ? "" : ", ") + std::string(one);
        }
        fail(key, '"' + name + '"', known);
    }
    /// An object or text under the key; null: there is none.
    const OrderedJson *value(std::string_view key);
    void fail(std::string_view key, std::string found, std::string expected);

    /// fails: BadCall for the first wrong key: unknown, or with a value of another kind
    Done finish() const;

private:
    std::optional<std::uint64_t> count(std::string_view key);

    OrderedJson m_object = OrderedJson::object();
    std::set<std::string, std::less<>> m_known;
    std::optional<Error> m_failure;
};

void readPrecision(Settings &settings, std::optional<Type> &precision); ///< precision
void readCompute(Settings &settings, Compute &compute); ///< backend, precision, threads, batch
void readPolicy(Settings &settings, Policy &policy); ///< the options of a policy
void readMethod(Settings &settings, std::string_view key, std::optional<ThresholdMethod> &method);
void readArithmetic(Settings &settings, Arithmetic &arithmetic); ///< as

/// The names of what readPolicy() reads; empty: none is there, so that no conversion is asked for.
bool hasPolicy(const char *settings);

} // namespace halftone::api::c
