/** Boots a Dock: prepares disk and network in parallel, then starts the sandbox. A failed boot is undone completely. */
import { newUuid } from '@dock/foundation'
import type { StartDock, StartedDock } from '@dock/host-protocol'
import type { SandboxDisk, SandboxHandle, SandboxSpec } from '@dock/runtime'
import type { DockNetwork } from '../network/networks.ts'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import { createNote } from '../sandboxes/capture-notes.ts'
import { bootSpecOf } from '../sandboxes/dock-record.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { buildBootScript, memoryFolder } from './boot-preparation.ts'
import { endUnreadable } from './end-unreadable.ts'
import { secretFileEntries } from './environment-entries.ts'
import { applyFiles } from './secret-files.ts'
import { settleAll } from './settle-all.ts'
import { UndoStack } from './undo-stack.ts'

/** True if the disk is a fresh clone of an image, on which nothing has ever run. */
const isFresh = ({ source }: StartDock): boolean => source.kind === 'image'

/**
 * Frees the Dock's id for a new disk. A disk that a Dock has used is captured first: the control plane that ordered this
 * boot may be restored from a backup and know less about the Dock than this host. If the capture fails, disk and record
 * are unchanged.
 */
const captureFormerDisk = async (dock: DockState, command: StartDock): Promise<void> => {
  const { disks, captureNotes, clock } = dock.parts
  const { dockId, record: former } = dock
  if (!(await disks.has(dockId)) || (await disks.isUnneeded(dockId))) return
  const captureId = newUuid()
  const generation = dock.generation || command.generation
  // The note names the organization, so that the capture is erased together with it.
  const spec = former?.spec ?? dock.unreadable?.spec ?? bootSpecOf(command)
  const note = createNote({ dockId, generation, spec }, clock.now())
  if (note) await captureNotes.write(captureId, note)
  await disks.capture(dockId, captureId)
  dock.logger.warn({ captureId, generation }, 'kept the former disk as a capture')
  await disks.remove(dockId)
  if (former) await dock.save({ phase: 'gone', ip: null, sandbox: null })
}

/** True if the files are written before the boot, which is quicker: the host has the disk mounted, and knows what is on it. */
const getsFilesEarly = ({ parts }: DockState, command: StartDock): boolean =>
  parts.driver.takesDisk === 'mount' && isFresh(command)

const prepareDisk = async (dock: DockState, command: StartDock, undo: UndoStack): Promise<SandboxDisk> => {
  const { disks, driver } = dock.parts
  const { dockId } = dock
  const { source } = command
  if (source.kind === 'own') {
    if (!(await disks.has(dockId))) throw new AgentRefusal('not_found', 'this host has no disk of the Dock')
    undo.push('detach disk', () => disks.detach(dockId))
  } else {
    // captureFormerDisk has saved any used disk. What is left is a disk that an earlier stop or boot could not remove.
    if (await disks.has(dockId)) await disks.remove(dockId)
    undo.push('remove disk', () => disks.remove(dockId))
    const from = source.kind === 'image' ? { image: source.image } : { captureId: source.captureId }
    await disks.create(dockId, { from, diskGiB: command.diskGiB })
  }
  if (driver.takesDisk === 'device') return { device: await disks.diskFile(dockId) }
  const { rootPath } = await disks.attach(dockId)
  if (command.files && getsFilesEarly(dock, command))
    await disks.writeEntries(dockId, secretFileEntries(command.files))
  return { mount: rootPath }
}

/** `hasBlank`: a blank sandbox waits in the network's namespace. */
type BootNetwork = DockNetwork & { hasBlank: boolean }

/** Makes the Dock's network. If a blank sandbox of the Dock's size waits, its network becomes that of the Dock. */
const makeNetwork = async (dock: DockState, command: StartDock, undo: UndoStack): Promise<BootNetwork> => {
  const { networks, blankPool } = dock.parts
  undo.push('destroy network', () => networks.destroy(dock.dockId))
  const blank = blankPool.take(command, { inBackground: dock.isInWarmPool })
  if (blank === null) return { ...(await networks.create(dock.dockId)), hasBlank: false }
  undo.push('remove blank sandbox', () => blankPool.remove(blank))
  const network = await networks.create(dock.dockId, blank)
  const hasBlank = network.netnsPath === blank
  if (!hasBlank) await blankPool.remove(blank)
  return { ...network, hasBlank }
}

/**
 * Starts the sandbox. If that fails with a blank, starts it without one: the failed start removed the blank, and may
 * have taken the addresses from its network.
 */
const startSandbox = async (
  dock: DockState,
  spec: SandboxSpec,
  hasBlank: boolean,
): Promise<SandboxHandle> => {
  const { driver, networks } = dock.parts
  try {
    return await driver.start(spec)
  } catch (error) {
    if (!hasBlank) throw error
    dock.logger.warn({ err: error }, 'a sandbox that was created ahead did not start; starting another one')
    await networks.restore(dock.dockId)
    return await driver.start(spec)
  }
}

/** Runs a boot. Afterwards the Dock runs, or nothing of this boot is left. */
export async function bootDock(dock: DockState, command: StartDock): Promise<StartedDock> {
  const { driver, disks } = dock.parts
  const { dockId } = dock
  const { generation } = command
  const former = dock.record
  if (dock.unreadable) await endUnreadable(dock)
  if (former?.sandbox) await endOlderGeneration(dock)
  if (command.source.kind !== 'own') await captureFormerDisk(dock, command)
  const undo = new UndoStack(dock.logger)
  try {
    const [, disk, network] = await settleAll<[unknown, SandboxDisk, BootNetwork]>([
      dock.save({
        phase: 'starting',
        generation,
        spec: bootSpecOf(command),
        ip: null,
        sandbox: null,
        lastOperation: null,
        booted: null,
      }),
      prepareDisk(dock, command, undo),
      makeNetwork(dock, command, undo),
    ])
    const { cpus, memoryMiB, hostname, newIdentity } = command
    const { netnsPath, nameserver, ip } = network
    const sandbox = await startSandbox(
      dock,
      {
        ...{ dockId, generation, hostname, cpus, memoryMiB },
        ...{ disk, netnsPath, nameserver },
        inBackground: dock.isInWarmPool,
        inMemory: memoryFolder,
        prepare: buildBootScript({ hostname, nameserver, newIdentity, variables: command.env ?? {} }),
      },
      network.hasBlank,
    )
    undo.push('destroy sandbox', () => driver.destroy(sandbox))
    if (command.files && !getsFilesEarly(dock, command)) await applyFiles(driver, sandbox, command.files)
    const result: StartedDock = { ip }
    const lastOperation = { kind: 'start' as const, operationId: command.operationId, generation, result }
    const booted = { operationId: command.operationId, result }
    const running = {
      phase: 'running',
      bootId: dock.parts.bootId,
      ip,
      sandbox,
      lastOperation,
      booted,
    } as const
    // The warm pool's disks stay unneeded until a Dock claims them.
    await Promise.all([dock.save(running), dock.isInWarmPool || disks.markNeeded(dockId)])
    dock.adopt(sandbox, { isNew: true })
    return result
  } catch (error) {
    await undo.unwind()
    // If the disk could not be removed, this host still has it and must report it.
    const phase = (await disks.has(dockId).catch(() => true)) ? 'stopped' : 'gone'
    await dock.save({ phase, ip: null, sandbox: null, lastOperation: null, booted: null })
    throw error
  }
}

const endOlderGeneration = async (dock: DockState): Promise<void> => {
  await dock.endSandbox()
  await dock.parts.networks.destroy(dock.dockId)
  await dock.parts.disks.detach(dock.dockId)
  await dock.save({ phase: 'stopped', ip: null, sandbox: null })
}
