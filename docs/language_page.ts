import { builtInRegistry } from "../operators/index.ts";
import { WINDOW_ROWS_MAX } from "../src/limits.ts";
import { grammarRules, precedenceRows, printEbnf } from "./ebnf.ts";

/** The page on the language: its meaning first, then the grammar as the parser has it. */
export function languagePage(): string {
  const precedence = precedenceRows().map(
    ([symbols, associativity]) => `| \`${symbols.replaceAll("|", "\\|")}\` | ${associativity} |`,
  );
  const pictures = grammarRules().map(({ name }) => `**${name}**\n\n![${name}](railroad/${name}.svg)`);
  return `# The formula language

Made by \`npm run docs\`; a test keeps it current. [operators.md](operators.md) has every operator,
[dialects.md](dialects.md) what the dialects alpha101, qlib and gtja191 read differently.

${meaning()}

## Grammar

\`\`\`ebnf
${printEbnf()}
\`\`\`

## Precedence

From the loosest to the tightest:

| operators | associativity |
| --- | --- |
${precedence.join("\n")}

## Railroad diagrams

${pictures.join("\n\n")}
`;
}

/** What formulas mean: dialect \`native\`. */
function meaning(): string {
  return `## A file

\`\`\`
dialect alpha101                          # how the file is read; see dialects.md. Default: native
let typical = (high + low + close) / 3    # a definition, not an output
let smooth(x, d) = ts_mean(ts_mean(x, d), d)
param session = "continuous"              # a call parameter with its default; without one every call must give it
param half_life = 0.94                    # numeric params may be used in formulas, not as windows
trend = smooth(typical, 5) / typical - 1  # a factor: an output column
closing = rank(trend) when session == "close"
when session != "auction" && half_life > 0.5 {
  fast = ts_mean(returns, 2) * half_life priority 10
}
\`\`\`

A file is a list of statements, one per line. Inside parentheses a statement continues over line ends; the \`{\` and \`}\` of
a \`when\` block end a statement as a line end does. \`#\` and \`//\` start comments. Names of functions may be written in any
letter case. \`let\`, \`param\`, \`when\`, \`dialect\`, \`true\`, \`false\` and \`null\` are reserved.

A name is a definition or a factor of the file, a param, a field or a group column of the panel, or a derived series:
\`returns\` is \`close / delay(close, 1) - 1\`, \`adv20\` is \`ts_mean(close * volume, 20)\`, for any number of rows.

A name is a word of letters and digits of any script and \`_\`, with at most one dot within: \`close\`, \`收盘\`,
\`IndClass.sector\`. Any other stands in backquotes, as a reserved word does: \`\` \`Adj Close\` \`\`, \`\` \`1d\` \`\`, \`\` \`let\` \`\`;
two backquotes are one of the name. That holds for columns, definitions, functions, params and factors, whose output
columns are called so without the backquotes. A letter with an accent is one name however it is composed (Unicode NFC),
and letter case matters only where two columns differ in nothing else. A name with a line break has no spelling: \`--field\` renames
such a column.

## Types

| type | what it is | where it may stand |
| --- | --- | --- |
| series | a number per row and instrument: a field, the result of an operator | wherever a series is expected |
| condition | 1, 0 or null: the result of a comparison, of \`&&\`, \`\\|\\|\`, \`!\` or \`is_null\` | wherever a condition or a series is expected |
| number | a literal, or what is computed from literals alone: \`2 * 10\` | as a constant or a window, and as a series with one value |
| group | a column of labels, such as \`sector\` | as the group of a group operator |
| text | \`"close"\` | in conditions over params |

A series is no condition: \`close ? 1 : 2\` is an error, \`close != 0 ? 1 : 2\` is right.

## Nulls

\`null\` is the missing value; NaN and empty cells of the input are null.

- **In a cell**: arithmetic with a null is null; so are \`0 / 0\` and the logarithm of a negative number. A comparison with a
  null is null. \`false && null\` is false and \`true || null\` is true; otherwise logic with a null is null.
  A null condition of \`? :\` gives null.
- **In a window**: a window with a null is null, unless \`min_periods\` is given.
- **Across the row**: instruments with a null are left out, and their result is null.

An instrument without an input row at a time is *absent*: it counts in no operator across the row, whatever the
formula makes of null. \`rank(coalesce(close, 0))\`, \`rank(delay(close, 1))\`, \`group_count(1, sector)\` and \`rank\` of a series
see the instruments that have a row only, so a later listing changes nothing in the past. A row counts even if all its values are null.
In windows an instrument without a row has a null; fields that are the same for all symbols (\`--series\`) have their value there.

## Windows

A window of \`d\` rows is the current row and the \`d - 1\` before it: rows of the panel, not of the instrument. Its result is null
until the panel has \`d\` rows. \`d\` is a whole number from 1 to ${WINDOW_ROWS_MAX.toLocaleString("en")}, known when the file is compiled. A negative delay
would look ahead and is an error (E206).

\`min_periods=m\`, where an operator allows it, leaves rows with a null out of the window and asks for at least \`m\` that
remain. This holds for the first rows of the panel too: \`ts_mean(close, 20, min_periods=1)\` has a value from the first row
on. Operators that allow it: ${allowingMinPeriods()}.

A **recursive** operator (\`ema\`, \`cum_sum\`) depends on all rows before the current one. \`factorloom explain\` prints the
lookback of a file: the rows before \`--from\` that its values depend on, or \`unbounded\`.

## Infinities

Arithmetic is that of IEEE 754 doubles, so \`close / 0\` is an infinity. Operators read it as a value: it is the largest of a
\`rank\`, it makes \`ts_mean\` infinite and \`ts_std\` null. Once it has left a window no trace of it remains. In the output
infinities become null and are counted (\`nonFinite\` in the [metadata](data.md#what-results-say-of-themselves)); \`--keep-inf\`, in the library \`keepInfinite: true\`, keeps them.

## Groups

A group operator takes a group column as its last argument, and works on each group of a row by itself:
\`group_rank(close, sector)\`. Group columns are text columns of the bars or of the table that \`--groups\` names. An
instrument without a label belongs to no group: its result is null.

\`--universe NAME\`, a \`let\`, factor or field, narrows the instruments of operators across the row, groups included, to those
for which it is neither null nor 0. The universe itself is computed over all that have a row; windows and recursive
operators keep the history of instruments outside it. A universe that no operator reads changes nothing; \`eval\` and
\`verify\` warn of it.

## Params, conditions, priorities

- Conditions read params alone and are evaluated once per call. A factor whose condition does not hold is null and costs
  nothing. With \`--params-by-time FILE\` conditions are decided for each row by the params of its time, and a numeric param
  is a series of its values by time: \`ts_mean(close * k, 2)\` uses the k of each of the two rows, as a live session would
  have. Rows are computed in blocks, usually of 64: one in which no row wants a factor costs nothing for it, unless it is
  recursive.
- \`priority 10\` at the end of a factor, behind its \`when\`, puts it before those of smaller priority where the budget of a
  [session](live.md) is short: a whole number from -1000 to 1000, 0 by default. It changes no value. \`priority\` is not
  reserved: fields and factors may have that name.`;
}

function allowingMinPeriods(): string {
  const operators = builtInRegistry.operators.filter(
    (operator) => operator.axis === "rolling" && operator.allowsMinPeriods,
  );
  return operators.map(({ name }) => `[${name}](operators.md#${name})`).join(", ");
}
