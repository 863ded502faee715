/**
 * The folder of a machine: its description, and the sockets that its launcher binds. Only root can enter it. A later agent finds
 * a machine by it; the control group says which processes belong to it.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import * as z from 'zod'

const recordFile = 'machine.json'

const machineRecord = z.object({
  version: z.literal(1),
  id: z.string(),
  uid: z.number().int(),
  cpus: z.number(),
  memoryMiB: z.number().int(),
  disk: z.string(),
  netnsPath: z.string().nullable(),
  network: z
    .object({
      address: z.string(),
      mask: z.string(),
      gateway: z.string(),
      mac: z.string(),
      mtu: z.number().int(),
    })
    .nullable(),
  /** Name of the tree that it runs from. */
  tree: z.string(),
})
export type MachineRecord = z.infer<typeof machineRecord>

/** User ids that no distribution and no systemd assigns. */
const uidBase = 0x7000_0000
const uidCount = 0x0fff_fff0

const idPattern = /^[a-z0-9][a-z0-9-]{0,63}$/

/** Throws unless the id can be the name of a folder and of a control group. */
export function checkMachineId(id: string): void {
  if (!idPattern.test(id)) throw new Error(`not an id of a machine: ${id}`)
}

export class MachineFolder {
  readonly path: string
  readonly #parent: string

  constructor(parent: string, id: string) {
    checkMachineId(id)
    this.#parent = parent
    this.path = join(parent, id)
  }

  /** Socket of the monitor. */
  get monitor(): string {
    return join(this.path, 'monitor')
  }

  /** Socket of a port of the guest. */
  port(number: number): string {
    return join(this.path, `port.${number}`)
  }

  /** Creates the folder. Throws EEXIST if something is left of a machine with this id. */
  async create(): Promise<void> {
    await mkdir(this.#parent, { recursive: true, mode: 0o700 })
    await mkdir(this.path, { mode: 0o700 })
  }

  async write(record: MachineRecord): Promise<void> {
    await writeFileDurably(join(this.path, recordFile), JSON.stringify(record))
  }

  /** Returns the description, or null if there is none that this release can read. */
  async read(): Promise<MachineRecord | null> {
    const text = await readFile(join(this.path, recordFile), 'utf8').catch(() => '')
    try {
      return machineRecord.parse(JSON.parse(text))
    } catch {
      return null
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }

  /** Returns a user id that no other machine in the same folder has. */
  async chooseUid(id: string): Promise<number> {
    const others = await Promise.all(
      (await listMachineFolders(this.#parent)).map((each) => new MachineFolder(this.#parent, each).read()),
    )
    const taken = new Set(others.map((record) => record?.uid))
    const first = createHash('sha256').update(this.#parent).update('\0').update(id).digest().readUInt32BE(0)
    for (let step = 0; ; step += 1) {
      const uid = uidBase + ((first + step) % uidCount)
      if (!taken.has(uid)) return uid
    }
  }
}

/** Returns the names of the trees that machines run from. */
export async function readUsedTrees(parent: string): Promise<string[]> {
  const ids = await listMachineFolders(parent)
  const records = await Promise.all(ids.map((id) => new MachineFolder(parent, id).read()))
  return records.flatMap((record) => (record ? [record.tree] : []))
}

/** Returns the ids of all machines that have a folder. */
export async function listMachineFolders(parent: string): Promise<string[]> {
  const names = await readdir(parent).catch(() => [])
  return names.filter((name) => idPattern.test(name))
}
