const entry = /([A-Za-z_]\w*)=(?:"((?:[^"\\]|\\[\s\S])*)"|([^\n]*))(?:\n|$)/gy

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

/** Returns the variables of the text in which the service reveals them: `KEY=plain` or `KEY="quoted"`. */
export function readVariables(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(entry)].map(([, name = '', quoted, plain = '']) => [
      name,
      quoted === undefined
        ? plain
        : quoted.replace(/\\([nrt"\\$])/g, (_, letter: string) => escapes[letter] ?? letter),
    ]),
  )
}
