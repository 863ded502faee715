/**
 * The handle files: one for each Dock that this host knows, whole or absent after a crash. A Dock that is gone keeps
 * its record for a day as a fence, so that a late command of an old generation is still refused.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid, writeFileDurably } from '@dock/foundation'
import { type StartDock, setupOutcome, startDock, startedDock } from '@dock/host-protocol'
import { execReference, sandboxHandle } from '@dock/runtime'
import * as z from 'zod'

/**
 * `starting`: a start is under way or was cut off. `running`: a sandbox is alive. `stopping`: its end was ordered.
 * `stopped`: ended by order, disk kept. `dead`: ended by itself, disk kept. `gone`: only the fence is left.
 */
export const dockPhase = z.enum(['starting', 'running', 'stopping', 'stopped', 'dead', 'gone'])
export type DockPhase = z.infer<typeof dockPhase>

/** What a sandbox is booted from and with. Its variables are not kept: they are secrets, and each start brings them. */
const bootSpec = z
  .object(startDock.shape)
  .omit({ operationId: true, generation: true, env: true, files: true })
export type BootSpec = z.infer<typeof bootSpec>

/** The part of a start that is kept. */
export function bootSpecOf({ operationId, generation, env, files, ...spec }: StartDock): BootSpec {
  return spec
}

export const dockRecord = z.strictObject({
  version: z.literal(1),
  dockId: z.uuid().lowercase(),
  /** 0 for a sandbox of the warm pool. */
  generation: z.number().int(),
  phase: dockPhase,
  /** The machine's boot in which the sandbox was started. */
  bootId: z.string(),
  spec: bootSpec.nullable(),
  ip: z.string().nullable(),
  sandbox: sandboxHandle.nullable(),
  /** The last command that succeeded, to answer its repetition. */
  lastOperation: z
    .strictObject({
      kind: z.enum(['start', 'stop', 'capture', 'destroy']),
      operationId: z.string(),
      generation: z.number().int(),
      result: z.unknown(),
    })
    .nullable(),
  /** The start that booted the present generation, and its answer; null in the record of an earlier version. */
  booted: z.strictObject({ operationId: z.string(), result: startedDock }).nullable().default(null),
  /** The setup script that was begun last, where it runs while it does, and how it ended. */
  setup: z
    .strictObject({
      operationId: z.string(),
      generation: z.number().int(),
      /** Null in the record of an earlier version, and once it has ended. */
      startedAt: z.iso.datetime().nullable().default(null),
      reference: execReference.nullable(),
      outcome: setupOutcome.nullable(),
    })
    .nullable()
    .default(null),
  changedAt: z.iso.datetime(),
})
export type DockRecord = z.infer<typeof dockRecord>

export type DockRecords = {
  /** Every record. `unreadable` holds the ids of Docks whose file could not be understood: nothing of theirs may go. */
  readAll(): Promise<{ records: DockRecord[]; unreadable: string[] }>
  /** On return the record is on stable storage. */
  write(record: DockRecord): Promise<void>
  remove(dockId: string): Promise<void>
}

const extension = '.json'

/** Records as files `<folder>/<dockId>.json`. The folder is made when absent. */
export function createDockRecords(folder: string): DockRecords {
  const pathOf = (dockId: string) => join(folder, `${dockId}${extension}`)
  const readOne = async (dockId: string): Promise<DockRecord | null> => {
    try {
      const record = dockRecord.parse(JSON.parse(await readFile(pathOf(dockId), 'utf8')))
      return record.dockId === dockId ? record : null
    } catch {
      return null
    }
  }
  return {
    readAll: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const records: DockRecord[] = []
      const unreadable: string[] = []
      for (const name of await readdir(folder)) {
        if (name.endsWith('.tmp')) await rm(join(folder, name), { force: true })
        const dockId = name.slice(0, -extension.length)
        if (!name.endsWith(extension) || !isUuid(dockId)) continue
        const record = await readOne(dockId)
        if (record) records.push(record)
        else unreadable.push(dockId)
      }
      return { records, unreadable }
    },
    write: (record) => writeFileDurably(pathOf(record.dockId), JSON.stringify(record)),
    remove: (dockId) => rm(pathOf(dockId), { force: true }),
  }
}
