#pragma once

#include "core/base/result.h"
#include "core/policy/pattern.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::session {

/// One thing that a query may ask of a row of a table.
struct QueryField
{
    enum class Kind : std::uint8_t
    {
        Text,
        Count, ///< a plain number
        Ratio, ///< a number, or percent
        Time, ///< in microseconds
        Decibels, ///< where less is worse: a failed row, NaN, counts as the lowest; of other numbers as the highest
    };

    std::vector<std::string_view>
        names; ///< as they may be written; errors say the first. Case and '_' do not count
    Kind kind = Kind::Text;
    bool isSearched = false; ///< by words and patterns that name no field
    /// Of a text with few values: `=` takes a part where no row has it whole, and a query for none of them is told which there are.
    bool isClosed = false;
    std::string_view absent{}; ///< said where no row has a number
};

/// The rows that queries ask.
class QueryTable
{
public:
    virtual ~QueryTable() = default;
    virtual std::span<const QueryField> fields() const = 0;
    virtual std::size_t rowCount() const = 0;
    /// The forms in which one value may be written, the one that people see first; none: the row has no such text.
    virtual std::vector<std::string> texts(std::size_t row, std::size_t field) const = 0;
    virtual std::optional<double> number(std::size_t row, std::size_t field) const = 0;
};

/// One step of a query in postfix order.
struct QueryStep
{
    enum class Kind : std::uint8_t { And, Or, Not, Part, Whole, Matches, Compares } kind = Kind::And;
    std::optional<std::size_t> field{}; ///< none: all that are searched
    std::string text{}; ///< in lower case; of a comparison its sign: "<", "<=", ">", ">=", "=" or "!="
    std::optional<policy::Pattern> pattern{};
    double bound = 0;
};

/// What a person asks for, wherever rows are searched or filtered:
/// - `conv`, `"two words"`: part of a text that is searched, whatever the case; `/stage[34]/`: a pattern over it (policy::Pattern)
/// - `op = Conv`, `type != f16`: the whole text, whatever the case; `op:conv`: a part; `name = /^stage1/`: a pattern
/// - `error > 0.01`, `error > 1 %`, `sqnr < 30dB`, `time >= 100us`: a number; a row that has none is no match, with `not` or without
/// - `not A`, `A and B`, `A B` (the same), `A or B`, and parentheses. `not` binds closest, then `and`
class Query
{
public:
    /// fails: BadInput; `where` is "character N" (from 1)
    static Result<Query> parse(std::string_view text, std::span<const QueryField> fields);

    bool isEmpty() const { return m_steps.empty(); }

    struct Answer
    {
        std::vector<std::size_t> rows;
        std::vector<std::string> notes; ///< what was asked for and no row has, one sentence each
    };
    /// Needs: a table with the fields that the query was parsed for.
    Answer ask(const QueryTable &table) const;

private:
    std::vector<QueryStep> m_steps;
};

} // namespace halftone::session
