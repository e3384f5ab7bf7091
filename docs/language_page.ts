import { grammarRules, precedenceRows, printEbnf } from "../grammar/ebnf.ts";

/** The page on the language: its text, and the grammar as the parser has it. */
export function languagePage(): string {
  const precedence = precedenceRows().map(
    ([symbols, associativity]) => `| \`${symbols.replaceAll("|", "\\|")}\` | ${associativity} |`,
  );
  const pictures = grammarRules().map(({ name }) => `**${name}**\n\n![${name}](railroad/${name}.svg)`);
  return `# The formula language

Made from the parser by \`npm run docs\`; a test keeps it current.

## Files

A file is a list of statements, one a line; inside parentheses a statement goes on over line ends, and a \`{\` or
\`}\` of a \`when\` block ends a statement as a line end does. \`#\` and \`//\` start comments. Names of functions may be
written in any letter case. \`let\`, \`param\`, \`when\`, \`dialect\`, \`true\`, \`false\` and \`null\` are reserved.

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

- A name is a definition or a factor of the file, a param, a field or a group column of the panel, or a derived series:
  \`returns\` is \`close / delay(close, 1) - 1\`, \`adv20\` is \`ts_mean(close * volume, 20)\`, for any number of rows.
- Conditions read params alone and are decided once per call. A factor whose condition does not hold is null and costs
  nothing. With \`--params-by-time FILE\` conditions are decided for each row
  by the params of its time, and a numeric param is a series of its values by time: \`ts_mean(close * k, 2)\` uses the k
  of each of the two rows, as a feed of calls would have seen them.
- \`priority 10\` at the end of a factor, behind its \`when\`, says that it comes before those of smaller priority where
  the budget of a [session](live.md) is short: a whole number from -1000 to 1000, 0 where none is written. It changes no
  value. \`priority\` is not reserved: fields and factors may have that name.
- \`null\` is the missing value. A comparison with it is null; \`false && null\` is false, \`true || null\` is true.
- An instrument without an input row at a time is not there: it counts in no operator across the row (cross-sections and
  groups), whatever the formula makes of null. \`rank(coalesce(close, 0))\`, \`rank(delay(close, 1))\`, \`group_count(1, sector)\`
  and \`rank\` of a series see the instruments of their row only, so that a later listing changes nothing of the past.
  A row counts even if all its values are null. Along time an instrument without a row is a null in windows; fields that are
  the same for all symbols (\`--series\`) have their value there.
- \`--universe NAME\`, a \`let\`, factor or field, narrows the instruments further: operators across the row count those for
  which it is neither null nor 0. The universe itself is computed over all that have a row; windows and recursive operators
  keep the history of whoever is outside. Where no operator works across the row it changes nothing; \`eval\` and \`verify\`
  warn of that.
- Windows are whole numbers of panel rows, known at compile time. A negative delay would look ahead and is an error.

## Grammar

\`\`\`ebnf
${printEbnf()}
\`\`\`

## Precedence

From the loosest to the tightest:

| operators | associativity |
| --- | --- |
${precedence.join("\n")}

## Diagrams

${pictures.join("\n\n")}
`;
}
