/** Finds the Dock that an argument, or the file `.dock`, names. */
import { type Client, Dock, type DockInfo } from '@dock/sdk'
import type { Context } from '../program/context.ts'
import { UsageError } from '../program/failures.ts'
import { readDockFile } from '../settings/dock-file.ts'
import { withLongNames } from './long-names.ts'
import { isId, pick } from './pick.ts'

/** Returns the Docks that the caller can see. */
export function listDocks(client: Client): Promise<DockInfo[]> {
  return client.call('listDocks', { query: { all: true } })
}

/** Returns a Dock by id, name, or `name.workspace` and `name.workspace.organization`. */
export async function dockByName(client: Client, text: string): Promise<DockInfo> {
  if (isId(text)) return client.call('readDock', { params: { id: text } })
  const docks = await listDocks(client)
  const isKnown = docks.some(({ name }) => name === text)
  if (isKnown || !text.includes('.')) return pick('Dock', docks, text, ({ name }) => [name])
  const long = await withLongNames(client, docks)
  return pick('Dock', long, text, ({ names }) => names).dock
}

/** Returns the Dock that the argument names; without an argument, the one of the file `.dock`. */
export async function findDock(context: Context, text: string | undefined): Promise<DockInfo> {
  const name = text ?? (await readDockFile(context.cwd))
  if (name === undefined)
    throw new UsageError(
      'Name a Dock, or write its name into the file .dock of this folder: dock create NAME --here',
    )
  return dockByName(await context.client(), name)
}

/** Returns a handle of the Dock that `findDock` returns. */
export async function openDock(context: Context, text: string | undefined): Promise<Dock> {
  const info = await findDock(context, text)
  return new Dock(await context.client(), info)
}

/** Returns how to name a Dock in a command that the user may copy. */
export function nameOf({ name, id }: Pick<DockInfo, 'name' | 'id'>): string {
  return name !== null && /^[\w.-]+$/.test(name) && !name.startsWith('-') ? name : id
}
