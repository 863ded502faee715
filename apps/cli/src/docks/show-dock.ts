/** Prints a Dock. */
import type { DockInfo, DockStop } from '@dock/sdk'
import { formatAge, formatMebibytes, formatSeconds } from '../output/formats.ts'
import type { Context } from '../program/context.ts'
import { wordOf } from './words.ts'

/** Returns its size in words. */
export function sizeOf({ cpus, memoryMiB, diskGiB }: DockInfo): string {
  return `${cpus} CPU${cpus === 1 ? '' : 's'}, ${formatMebibytes(memoryMiB)} memory, ${diskGiB} GiB disk`
}

const reasonOf = (stop: DockStop): string => `${stop.message} (${formatAge(stop.at)} ago)`

/** Prints everything about a Dock; in quiet mode its id. */
export function showDock({ out }: Context, dock: DockInfo, lastStop: DockStop | null): void {
  const word = wordOf(dock.state)
  const isOff = ['Stopping', 'Stopped', 'Failed', 'Unreachable'].includes(word)
  out.result({ ...dock, lastStop }, () => {
    if (out.isQuiet) return out.line(dock.id)
    out.fields([
      ['name', dock.name ?? '–'],
      ['id', dock.id],
      ['state', `${word}, for ${formatAge(dock.stateChangedAt)}`],
      ['why', isOff && lastStop ? reasonOf(lastStop) : null],
      ['size', sizeOf(dock)],
      ['image', dock.image],
      ['runtime', dock.runtime],
      ['environment', dock.environment],
      ['template', dock.fromTemplate],
      ['stops after', dock.ttlSeconds === null ? null : formatSeconds(dock.ttlSeconds)],
      ['setup', dock.setupStatus === 'done' ? null : dock.setupStatus],
      ['setup error', dock.setupError],
      ['address', dock.ip],
      ['last snapshot', dock.lastSnapshotAt === null ? null : `${formatAge(dock.lastSnapshotAt)} ago`],
      ['last stop', !isOff && lastStop ? reasonOf(lastStop) : null],
      ['age', formatAge(dock.createdAt)],
    ])
  })
}
