/** The markup of a page that is there without its script. */
export const markupOf = (page: string): string => page.slice(page.indexOf("<main>"), page.indexOf("<script"));

/** What XML has, and HTML where it is written so. */
const TAG = /<(\/?)([a-z0-9]+)((?:\s+[a-z0-9-]+="[^"<]*")*)\s*(\/?)>/gi;

/** The elements of that markup, in order. @throws Error if tags do not match or text has a stray character of markup. */
export function parseMarkup(page: string): { readonly name: string; readonly attributes: string }[] {
  const body = markupOf(page);
  const open: string[] = [];
  const elements: { name: string; attributes: string }[] = [];
  for (const [, closing, name, attributes, empty] of body.matchAll(TAG)) {
    if (closing) {
      const last = open.pop();
      if (last !== name) throw new Error(`</${name}> closes <${last}>`);
      continue;
    }
    elements.push({ name: name!, attributes: attributes! });
    if (!empty) open.push(name!);
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)}> is not closed`);
  const stray = /[<>]|&(?!(?:amp|lt|gt|quot);)/.exec(body.replace(TAG, ""));
  if (stray) throw new Error(`a stray ${stray[0]}`);
  return elements;
}
