/** Finds the SQL writes in a source file: what `table-owners.test.ts` compares with docs/architecture.md. */

export type TableWrite = { line: number; verb: string; table: string }

/** The name of a table that is only known at run time. Nobody owns it, so such a write is always found foreign. */
export const dynamicTable = '(dynamic)'

/** Not a write of its own: `for update`, `for no key update`, `do update set`, and the events of triggers. */
const noWrite = String.raw`(?<!\b(?:for|key|do|on|or|before|after)\s+)`
const name = String.raw`(?:"?public"?\.)?"?([a-z_]\w*)"?`
const interpolated = String.raw`\$\{\s*(?:sql\.(?:table|ref|id|raw|lit)\(\s*['"]([\w.]+)['"]\s*\))?`
const statement = new RegExp(
  String.raw`\b(insert\s+into|delete\s+from|merge\s+into|${noWrite}update|truncate(?:\s+table)?)\s+(?:only\s+)?(?:${name}|${interpolated})(\s*,\s*\w+)*`,
  'gi',
)
const builder =
  /\.\s*(insertInto|replaceInto|updateTable|deleteFrom|mergeInto)\(\s*(?:['"](\w+)(?:\s+as\s+\w+)?['"])?/g

/** Replaces comments by spaces, so that positions stay. */
const withoutComments = (source: string): string =>
  source
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(?<=^|\s)\/\/.*/gm, (comment) => ' '.repeat(comment.length))

/** Returns the writes of a TypeScript source: SQL text, also in fragments, and calls of the query builder. */
export function findTableWrites(source: string): TableWrite[] {
  const text = withoutComments(source)
  const lineOf = (index: number): number => text.slice(0, index).split('\n').length
  const raw = [...text.matchAll(statement)].map(({ index, 1: verb, 2: plain, 3: literal, 4: more }) => ({
    index,
    verb: verb!.toLowerCase().replace(/\s+/g, ' '),
    // A list of tables is not looked into: it belongs into one statement for each table.
    table: more?.trim() && verb!.toLowerCase().startsWith('truncate') ? dynamicTable : (plain ?? literal),
  }))
  const built = [...text.matchAll(builder)].map(({ index, 1: verb, 2: table }) => ({
    index,
    verb: verb!,
    table,
  }))
  return [...raw, ...built]
    .sort((a, b) => a.index - b.index)
    .map(({ index, verb, table }) => ({ line: lineOf(index), verb, table: table ?? dynamicTable }))
}
