/**
 * The blank sandboxes of this driver, by network namespace. Blanks rely on private behaviour of runsc. So one is tried
 * on a disk of no tenant before the first is created for a Dock, and none is created for a time when sandboxes start
 * without one but not from one.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@dock/foundation'
import { type CgroupMount, namesOfGroups } from '../cgroup/sandbox-cgroup.ts'
import { leftoverBlanks, newBlankName } from '../runsc/blank-record.ts'
import { identityOf } from '../runsc/program-identity.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { isOutdated } from '../runsc/sandbox-program.ts'
import type { BootSpec } from '../sandbox/oci-config.ts'
import { isAlive } from '../system/host-process.ts'
import { type Blank, type BlankSpec, createBlank } from './create-blank.ts'
import { removeBlank } from './remove-blank.ts'
import { startBlank } from './start-blank.ts'

type NetworkedSpec = BlankSpec & { netnsPath: string }

export type BlankParts = {
  runsc: Runsc
  mounts: readonly CgroupMount[]
  stateDir: string
  /**
   * Sets the host name of the sandbox that runsc knows by this name, in every way in which the driver may do it later.
   */
  renameProbe: (name: string, hostname: string) => Promise<void>
  logger: Logger
}

/**
 * Docks whose sandboxes in a row did not start from a blank, but without one, before no blank is created for a time. The
 * cause may be the disk of one Dock, which must not slow down the boots of others.
 */
const failedDocksMax = 2
const pauseMs = 600_000
/** Probes of one program that may fail: a machine may be too busy for the first. */
const probesMax = 2
const word = 'é "$x"'
const probeHostname = 'probe'
const probeScript =
  'read -r line && read -r name </proc/sys/kernel/hostname && [ "$line/$name" = "$WORD/$HOSTNAME_WANTED" ]'

const isSame = (one: BlankSpec, other: BlankSpec): boolean =>
  one.cpus === other.cpus &&
  one.memoryMiB === other.memoryMiB &&
  one.inMemory?.path === other.inMemory?.path &&
  one.inMemory?.gid === other.inMemory?.gid

export class Blanks {
  readonly #parts: BlankParts
  readonly #ready = new Map<string, Blank>()
  /** Names of blanks that could not be removed, by network namespace; empty if they have none. */
  readonly #stuck = new Map<string, string>()
  /** Docks whose last start was from a blank, and failed. */
  readonly #failed = new Set<string>()
  /** Docks that then started without one, since a start from a blank succeeded. */
  readonly #needNone = new Set<string>()
  #pausedUntilMs = 0
  #probed: { program: string; failures: number; works: Promise<boolean> } | undefined

  constructor(parts: BlankParts) {
    this.#parts = parts
  }

  /** Removes what dead drivers left behind. Failures are logged: the next creation tries again. */
  async removeLeftovers(): Promise<void> {
    const { runsc, mounts, stateDir, logger } = this.#parts
    try {
      const present = [...(await readNames(runsc.rootDir)), ...namesOfGroups(mounts)]
      for (const name of leftoverBlanks(stateDir, present)) await this.#remove(name)
      for (const [netnsPath, name] of this.#stuck) await this.#removeFrom(netnsPath, name)
    } catch (error) {
      logger.warn({ err: error }, 'could not remove what is left of a sandbox that was created ahead')
    }
  }

  /**
   * Creates a blank in this network namespace. Returns false if that is of no use now. After an error, something may be
   * left in the namespace until {@link remove} succeeds.
   */
  async create(spec: NetworkedSpec): Promise<boolean> {
    if (performance.now() < this.#pausedUntilMs || !(await this.#works())) return false
    // A call of runsc may have gone on after its driver died.
    await this.removeLeftovers()
    this.#ready.set(spec.netnsPath, await this.#create(spec))
    return true
  }

  /**
   * Returns the blank that waits in the network namespace of this boot. The caller starts or removes it. Returns
   * undefined if there is none or it does not fit, which then is removed.
   */
  async take(spec: BootSpec): Promise<Blank | undefined> {
    const blank = this.#ready.get(spec.netnsPath ?? '')
    if (!blank) return undefined
    this.#ready.delete(spec.netnsPath ?? '')
    const isUsable =
      isSame(blank.spec, spec) &&
      isAlive(blank.sentry) &&
      isAlive(blank.gofer.process) &&
      !isOutdated(this.#parts.runsc, blank.folder)
    if (isUsable) return blank
    await this.discard(blank)
    return undefined
  }

  /** Removes the blank that waits in this network namespace, and what is left of one there. */
  async remove(netnsPath: string): Promise<void> {
    const blank = this.#ready.get(netnsPath)
    this.#ready.delete(netnsPath)
    if (blank) await this.discard(blank)
    const name = this.#stuck.get(netnsPath)
    if (name) await this.#removeFrom(netnsPath, name)
  }

  /** Removes a blank that was taken. */
  async discard(blank: Blank): Promise<void> {
    blank.streams.close()
    blank.gofer.close()
    await this.#removeFrom(blank.spec.netnsPath ?? '', blank.name)
  }

  /** Notes whether the sandbox of a Dock started, with a blank or without. */
  noteStart(dockId: string, { withBlank, hasStarted }: { withBlank: boolean; hasStarted: boolean }): void {
    if (withBlank && hasStarted) this.#needNone.clear()
    const failedBefore = this.#failed.delete(dockId)
    if (withBlank && !hasStarted) this.#failed.add(dockId)
    if (withBlank || !hasStarted || !failedBefore) return
    this.#needNone.add(dockId)
    if (this.#needNone.size < failedDocksMax) return
    this.#needNone.clear()
    this.#pausedUntilMs = performance.now() + pauseMs
    this.#parts.logger.warn('sandboxes that were created ahead do not start: none is created for ten minutes')
  }

  async #create(spec: BlankSpec): Promise<Blank> {
    const { runsc, mounts, stateDir } = this.#parts
    const name = newBlankName(stateDir)
    try {
      return await createBlank(runsc, mounts, spec, name, join(stateDir, name))
    } catch (error) {
      await this.#removeFrom(spec.netnsPath ?? '', name).catch(() => undefined)
      throw error
    }
  }

  async #removeFrom(netnsPath: string, name: string): Promise<void> {
    this.#stuck.set(netnsPath, name)
    await this.#remove(name)
    this.#stuck.delete(netnsPath)
  }

  #remove(name: string): Promise<void> {
    const { runsc, mounts, stateDir } = this.#parts
    return removeBlank(runsc, mounts, name, join(stateDir, name))
  }

  async #works(): Promise<boolean> {
    const program = identityOf(this.#parts.runsc.path)
    const before = this.#probed?.program === program ? this.#probed : undefined
    if (before && ((await before.works) || before.failures >= probesMax)) return before.works
    const probed = { program, failures: before?.failures ?? 0, works: this.#probe() }
    this.#probed = probed
    const works = await probed.works
    if (!works) probed.failures += 1
    return works
  }

  /** Starts a blank on this machine's root folder, read-only and without a network. */
  async #probe(): Promise<boolean> {
    const { runsc, renameProbe, logger } = this.#parts
    const spec = { cpus: 1, memoryMiB: 256, isReadOnly: true }
    const prepare = {
      script: probeScript,
      env: { WORD: word, HOSTNAME_WANTED: probeHostname },
      input: Buffer.from(`${word}\n`),
    }
    let blank: Blank | undefined
    try {
      blank = await this.#create(spec)
      const boot = { ...spec, hostname: probeHostname, disk: { mount: '/' }, prepare }
      const { name } = blank
      await startBlank(runsc, blank, boot, () => renameProbe(name, probeHostname))
      return true
    } catch (error) {
      logger.warn({ err: error }, 'this runsc creates no sandboxes ahead: boots take longer')
      return false
    } finally {
      if (blank)
        await this.discard(blank).catch((error: unknown) =>
          logger.warn({ err: error }, 'could not remove the sandbox of the probe'),
        )
    }
  }
}

const readNames = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
