/**
 * Records of the Docks that this host knows, one file for each. After a crash a file is complete or absent. The record of
 * a Dock that is gone stays for a day as a fence, so that late commands of an old generation are still refused.
 */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid, writeFileDurably } from '@dock/foundation'
import { type StartDock, setupOutcome, startDock, startedDock } from '@dock/host-protocol'
import { execReference, sandboxHandle } from '@dock/runtime'
import * as z from 'zod'

/**
 * `starting`: a start is in progress or was interrupted. `running`: the sandbox is alive. `stopping`: a stop was ordered.
 * `stopped`: stopped by order, disk kept. `dead`: the sandbox ended by itself, disk kept. `gone`: only the fence is left.
 */
export const dockPhase = z.enum(['starting', 'running', 'stopping', 'stopped', 'dead', 'gone'])
export type DockPhase = z.infer<typeof dockPhase>

/** What a sandbox is booted with. Variables and secret files are not kept: each start command contains them. */
const bootSpec = z
  .object(startDock.shape)
  .omit({ operationId: true, generation: true, env: true, files: true })
export type BootSpec = z.infer<typeof bootSpec>

/** Returns the part of a start command that is kept in the record. */
export function bootSpecOf({ operationId, generation, env, files, ...spec }: StartDock): BootSpec {
  return spec
}

export const dockRecord = z.object({
  version: z.literal(1),
  dockId: z.uuid().lowercase(),
  /** 0 for a sandbox of the warm pool. */
  generation: z.number().int(),
  phase: dockPhase,
  /** Kernel boot id of the machine when the sandbox was started. */
  bootId: z.string(),
  spec: bootSpec.nullable(),
  ip: z.string().nullable(),
  sandbox: sandboxHandle.nullable(),
  /** The last successful command. A repetition of it gets the same result. */
  lastOperation: z
    .object({
      kind: z.enum(['start', 'stop', 'capture', 'destroy']),
      operationId: z.string(),
      generation: z.number().int(),
      result: z.unknown(),
    })
    .nullable(),
  /** The start that booted the present generation, and its result. Null in records of an earlier version. */
  booted: z.object({ operationId: z.string(), result: startedDock }).nullable().default(null),
  /** The latest setup script: where it runs while it does, and its outcome. */
  setup: z
    .object({
      operationId: z.string(),
      generation: z.number().int(),
      /** Null in records of an earlier version, and after the script has ended. */
      startedAt: z.iso.datetime().nullable().default(null),
      reference: execReference.nullable(),
      outcome: setupOutcome.nullable(),
    })
    .nullable()
    .default(null),
  changedAt: z.iso.datetime(),
})
export type DockRecord = z.infer<typeof dockRecord>

/**
 * Stands for a record whose file is missing or cannot be parsed. A later version of Dock may have written the file.
 * `generation` and `spec` are null if nothing else tells them.
 */
export type UnreadableRecord = {
  dockId: string
  generation: number | null
  spec: BootSpec | null
  /** Why it cannot be read, for the log. */
  error: unknown
}

/** The fields of an unreadable record that are read on their own. The columns of a generation hold 32 bits. */
const legibleFields = z.object({ generation: z.int32().positive(), spec: bootSpec.nullable().catch(null) })

export type DockRecords = {
  /** Reads all records. Nothing of a Dock whose record is unreadable may be removed without an order. */
  readAll(): Promise<{ records: DockRecord[]; unreadable: UnreadableRecord[] }>
  /** On return the record is on stable storage. */
  write(record: DockRecord): Promise<void>
  remove(dockId: string): Promise<void>
}

const extension = '.json'

/** Stores records as files `<folder>/<dockId>.json`. Creates the folder if it is missing. */
export function createDockRecords(folder: string): DockRecords {
  const pathOf = (dockId: string) => join(folder, `${dockId}${extension}`)
  const readOne = async (dockId: string): Promise<DockRecord | UnreadableRecord> => {
    let contents: unknown
    try {
      contents = JSON.parse(await readFile(pathOf(dockId), 'utf8'))
      const record = dockRecord.parse(contents)
      if (record.dockId === dockId) return record
      contents = undefined
      throw new Error(`the file holds the record of ${record.dockId}`)
    } catch (error) {
      const legible = legibleFields.safeParse(contents)
      return { dockId, generation: null, spec: null, ...legible.data, error }
    }
  }
  return {
    readAll: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const records: DockRecord[] = []
      const unreadable: UnreadableRecord[] = []
      for (const name of await readdir(folder)) {
        if (name.endsWith('.tmp')) await rm(join(folder, name), { force: true })
        const dockId = name.slice(0, -extension.length)
        if (!name.endsWith(extension) || !isUuid(dockId)) continue
        const record = await readOne(dockId)
        if ('error' in record) unreadable.push(record)
        else records.push(record)
      }
      return { records, unreadable }
    },
    write: (record) => writeFileDurably(pathOf(record.dockId), JSON.stringify(record)),
    remove: (dockId) => rm(pathOf(dockId), { force: true }),
  }
}
