/**
 * The names and files that tell blank sandboxes apart after a crash. A blank has a folder of its own name, which says
 * who made it and which gofer serves it. When a Dock gets the blank, the Dock's folder says its name. A blank that no
 * folder names belongs to the driver that made it, and is left over once that has died.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { type HostProcess, hostProcess, isAlive } from '../system/host-process.ts'

const nameForm = /^blank-[0-9a-f]{32}$/
const nameFile = 'name'
const recordFile = 'blank.json'
const process_ = z.object({ pid: z.number(), startTime: z.string() })
const record = z.object({ maker: process_, gofer: process_.nullable() })

/** The beginning of the names of all blanks of drivers with this folder: others on the machine have blanks too. */
const prefixOf = (stateDir: string): string =>
  `blank-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}`

/** Returns a new name, of fixed length because runsc matches prefixes. */
export function newBlankName(stateDir: string): string {
  return `${prefixOf(stateDir)}${randomBytes(12).toString('hex')}`
}

/** Records a blank in its own folder. */
export function recordBlank(folder: string, { gofer }: { gofer: HostProcess | null }): void {
  const content = { maker: hostProcess(process.pid), gofer }
  writeFileSync(join(folder, recordFile), JSON.stringify(content), { mode: 0o600 })
}

const readRecord = (folder: string): z.infer<typeof record> | undefined => {
  try {
    return record.parse(JSON.parse(readFileSync(join(folder, recordFile), 'utf8')))
  } catch {
    // There is none, or its driver died while it wrote it.
    return undefined
  }
}

/** Records that the sandbox of this folder is the blank of this name. */
export function recordRunscName(folder: string, name: string): void {
  writeFileSync(join(folder, nameFile), name, { mode: 0o600 })
}

const readName = (folder: string): string | undefined => {
  try {
    const name = readFileSync(join(folder, nameFile), 'utf8')
    return nameForm.test(name) ? name : undefined
  } catch {
    return undefined
  }
}

/** Returns the name under which runsc knows the sandbox with this folder: its id, or that of the blank that it was. */
export function runscNameOf(folder: string, id: string): string {
  return readName(folder) ?? id
}

/** Returns the folder of the blank that the sandbox was, or its own. */
export function runscFolderOf(folder: string, id: string): string {
  return join(dirname(folder), runscNameOf(folder, id))
}

/** Returns the gofer that replaced the one in runsc's state. */
export function replacedGofer(runscFolder: string): HostProcess | null {
  return readRecord(runscFolder)?.gofer ?? null
}

const list = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * Returns the names of blanks that belong to no sandbox and to no living driver. `present` has the names of all files
 * of runsc's state, and of all control groups.
 */
export function leftoverBlanks(stateDir: string, present: readonly string[]): string[] {
  const folders = list(stateDir)
  const prefix = prefixOf(stateDir)
  const names = new Set([...folders, ...present].map((each) => each.split('_')[0] ?? ''))
  const orphans = [...names].filter((name) => {
    if (!nameForm.test(name) || !name.startsWith(prefix)) return false
    const maker = readRecord(join(stateDir, name))?.maker
    return !maker || !isAlive(maker)
  })
  if (orphans.length === 0) return []
  const taken = new Set(folders.map((each) => readName(join(stateDir, each))))
  return orphans.filter((name) => !taken.has(name))
}
