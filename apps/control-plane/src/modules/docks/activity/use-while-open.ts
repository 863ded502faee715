import { type Duplex, finished } from 'node:stream'
import type { DockRow } from '../core/dock.ts'
import type { DockActivity } from './dock-activity.ts'

/** Opens a stream to the Dock, which counts as used until the stream has closed, also if that was before this returns. */
export async function useWhileOpen(
  activity: Pick<DockActivity, 'begin'>,
  dock: Pick<DockRow, 'id'>,
  open: () => Promise<Duplex>,
): Promise<Duplex> {
  const ended = activity.begin(dock)
  try {
    const stream = await open()
    finished(stream, ended)
    return stream
  } catch (error) {
    ended()
    throw error
  }
}
