/** Inserts the row of a Dock. Every create uses it: a request, the promotion of a Run's machine, an adopted disk. */
import { type Insertable, type RawBuilder, sql } from 'kysely'
import { columnList } from '../../../database/columns.ts'
import type { Database } from '../../../database/table-types.ts'

type Columns = Insertable<Database['docks']>

/** Values of the columns, or SQL over `from`. Columns with a default may be left out. */
export type NewDockRow = { [Column in keyof Columns]: Columns[Column] | RawBuilder<unknown> }

/**
 * Returns SQL that inserts a Dock for each row of `from` (at most one) and returns it. With `skipTakenNames` it inserts
 * nothing if the workspace has a Dock of that name; otherwise the statement fails.
 */
export function insertDock(
  row: NewDockRow,
  from: RawBuilder<unknown>,
  { skipTakenNames = false }: { skipTakenNames?: boolean } = {},
): RawBuilder<unknown> {
  return sql`insert into docks (${sql.raw(Object.keys(row).join(', '))})
    select ${sql.join(Object.values(row))} from ${from}
    ${skipTakenNames ? sql`on conflict (workspace_id, name) do nothing` : sql``} returning ${columnList('docks')}`
}
