/**
 * Starts machines, from a template if there is one. A template is the memory of a machine that has booted and whose agent waits
 * for its configuration, so a start takes a fraction of a boot. It fits one size of machine, of one tree, on one kind of
 * processor. After the first boot of a size, its template is made. If there are
 * too many, the one that was used longest ago is removed.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@dock/foundation'
import type { Machine, MachineSize, MachineSpec, Vmm } from '../machine.ts'
import { machineVersion } from '../qemu/qemu-arguments.ts'

export type TemplatesOptions = {
  folder: string
  vmm: Vmm & { readonly accelerator: string }
  /** Name of the tree that the machines run from. */
  tree: string
  /** Resolves when the guest's agent waits for its configuration. It must leave no connection open. */
  awaitAgent: (machine: Machine) => Promise<void>
  logger: Logger
  /** How many templates are kept. */
  countMax?: number
  /** Distinguishes the machines that are made into templates from those of other agents on this host. */
  instance: string
}

export type Templates = {
  /** Starts a machine from the template of its size, or boots it, if there is none or it does not fit. */
  start(spec: MachineSpec): Promise<{ machine: Machine; isRestored: boolean }>
  /** Makes the template of a size unless it exists or is being made. Errors are logged: machines then boot. */
  make(size: MachineSize): Promise<void>
  /** Removes the template of a size: its machines do not start. Idempotent. */
  discard(size: MachineSize): Promise<void>
}

const countMaxDefault = 4
const suffix = '.memory'
const partialPrefix = '.new-'
/** The disk of a machine that becomes a template. Nothing reads it, and each restored machine has another one. */
const emptyDiskBytes = 2 ** 20

/** Creates the templates in `folder`. Removes those that cannot be used any more. */
export async function openTemplates(options: TemplatesOptions): Promise<Templates> {
  const { folder, vmm, tree, awaitAgent, logger, instance, countMax = countMaxDefault } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const prefix = `${tree}-${vmm.accelerator}-${machineVersion}-${await hashProcessor()}-`
  const making = new Map<string, Promise<void>>()

  const nameOf = ({ cpus, memoryMiB }: MachineSize): string => `${prefix}${cpus}-${memoryMiB}${suffix}`
  const pathOf = (size: MachineSize): string => join(folder, nameOf(size))

  const removeUnusable = async (): Promise<void> => {
    for (const name of await readdir(folder)) {
      if (!name.startsWith(prefix) || !name.endsWith(suffix))
        await rm(join(folder, name), { recursive: true, force: true })
    }
  }

  /** Removes those that were used longest ago. */
  const makeRoom = async (): Promise<void> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    const used = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
    )
    used.sort((one, other) => other.at - one.at)
    for (const { name } of used.slice(countMax - 1)) await rm(join(folder, name), { force: true })
  }

  const build = async (size: MachineSize): Promise<void> => {
    const half = join(folder, `${partialPrefix}${nameOf(size)}`)
    const disk = `${half}.disk`
    const id = `template-${instance}-${size.cpus}-${size.memoryMiB}`
    await writeFile(disk, Buffer.alloc(emptyDiskBytes))
    await vmm.remove(id)
    try {
      const machine = await vmm.launch({ id, ...size, disk, netnsPath: null, memoryFile: half })
      await awaitAgent(machine)
      await machine.pause()
      await machine.saveMemory()
      await vmm.remove(id)
      await makeDurable(half)
      await makeRoom()
      await rename(half, pathOf(size))
      const { blocks } = await stat(pathOf(size))
      logger.info({ ...size, bytes: blocks * 512 }, 'made a template of a machine')
    } finally {
      await vmm.remove(id)
      for (const path of [disk, half]) await rm(path, { force: true })
    }
  }

  const makeOnce = async (size: MachineSize): Promise<void> => {
    try {
      if (!(await exists(pathOf(size)))) await build(size)
    } catch (error) {
      logger.warn({ err: error, ...size }, 'could not make a template of a machine')
    } finally {
      making.delete(nameOf(size))
    }
  }

  const make = (size: MachineSize): Promise<void> => {
    const name = nameOf(size)
    const work = making.get(name) ?? makeOnce(size)
    making.set(name, work)
    return work
  }

  await removeUnusable()
  return {
    make,
    discard: (size) => rm(pathOf(size), { force: true }),
    start: async (spec) => {
      const path = pathOf(spec)
      if (await exists(path)) {
        const now = new Date()
        await utimes(path, now, now).catch(() => undefined)
        try {
          return { machine: await vmm.restore(spec, path), isRestored: true }
        } catch (error) {
          const machine = await vmm.launch(spec)
          // What fails with the template alone is the template's fault.
          logger.warn(
            { err: error, id: spec.id },
            'a template of a machine cannot be used; the machine was booted',
          )
          await rm(path, { force: true })
          return { machine, isRestored: false }
        }
      }
      return { machine: await vmm.launch(spec), isRestored: false }
    },
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** After a power cut a file may have holes where it had memory, and a guest would run on that. */
const makeDurable = async (path: string): Promise<void> => {
  const file = await open(path, constants.O_RDWR)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A guest that saw other features of its processor cannot continue on this one. */
const hashProcessor = async (): Promise<string> => {
  const text = await readFile('/proc/cpuinfo', 'utf8')
  const lines = text
    .split('\n')
    .filter((line) => /^(vendor_id|model|model name|stepping|flags)\s*:/.test(line))
  return createHash('sha256')
    .update([...new Set(lines)].join('\n'))
    .digest('hex')
    .slice(0, 8)
}
