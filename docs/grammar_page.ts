import { grammarRules, precedenceRows, printEbnf } from "../grammar/ebnf.ts";

/** The page on the grammar, made from the parser. */
export function grammarPage(): string {
  const precedence = precedenceRows().map(
    ([symbols, associativity]) => `| \`${symbols.replaceAll("|", "\\|")}\` | ${associativity} |`,
  );
  const pictures = grammarRules().map(({ name }) => `**${name}**\n\n![${name}](railroad/${name}.svg)`);
  return `# Grammar

Made from the parser by \`npm run docs\`; a test keeps it current.

A file is a list of statements, one a line; inside parentheses a statement goes on over line ends, and a \`{\` or
\`}\` of a \`when\` block ends a statement as a line end does. \`#\` and \`//\`
start comments. Names of functions may be written in any letter case. \`let\`, \`param\`, \`when\`, \`dialect\`, \`true\` and
\`false\` are reserved.

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
