/**
 * The runtime driver for gVisor. For each sandbox, the driver creates a folder `<stateDir>/<sandbox id>`, and runsc
 * keeps state in `rootDir`. Both names contain Dock and generation, so leftovers are found without a handle.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Logger, rotateLogs } from '@dock/foundation'
import type { AllCapabilities, OutOfMemory, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { Blanks } from './blank/blanks.ts'
import { BackgroundBoots } from './cgroup/background-boots.ts'
import { readCgroupMounts, requireCgroups, SandboxCgroup } from './cgroup/sandbox-cgroup.ts'
import { bootProbeSandbox } from './exec/boot-probe-sandbox.ts'
import { chooseTransport } from './exec/choose-transport.ts'
import { endTree } from './exec/end-tree.ts'
import type { ExecTransport } from './exec/exec-transport.ts'
import { renameSandbox } from './exec/rename-sandbox.ts'
import { runInSandbox } from './exec/run-in-sandbox.ts'
import { createRunscTransport } from './exec/runsc-transport.ts'
import { createSentryTransport } from './exec/sentry-transport.ts'
import { createTransportPerProgram } from './exec/transport-per-program.ts'
import { headroomMiB } from './memory/memory-guard.ts'
import { MemoryGuards } from './memory/memory-guards.ts'
import { shareMemory } from './memory/share-memory.ts'
import { LeftOutputs } from './pipes/left-outputs.ts'
import { abandonedExecs } from './process/abandoned-execs.ts'
import { openProcess, resizeTerminal } from './process/open-process.ts'
import { signalProcess } from './process/signal-process.ts'
import { runscNameOf } from './runsc/blank-record.ts'
import { fingerprintRunsc } from './runsc/fingerprint-runsc.ts'
import { identityOf } from './runsc/program-identity.ts'
import { createReleaseReader } from './runsc/read-release.ts'
import { createRunsc } from './runsc/runsc.ts'
import { parseSandboxId, sandboxId } from './runsc/sandbox-id.ts'
import { isOutdated, programIdentity, runscOf } from './runsc/sandbox-program.ts'
import { readSandboxState } from './runsc/sandbox-state.ts'
import { LiveSandbox } from './sandbox/live-sandbox.ts'
import { removeSandbox } from './sandbox/remove-sandbox.ts'
import { listProcesses } from './sentry/list-processes.ts'
import { exitCodeOf, Sentry } from './sentry/sentry.ts'
import { SentryRefused } from './sentry/sentry-connection.ts'
import { startSandbox } from './start-sandbox.ts'
import { type HostProcess, hostProcess } from './system/host-process.ts'

export type GvisorOptions = {
  /** Path of the runsc program. */
  runscPath: string
  /** The folder for runsc's state. */
  rootDir: string
  /** The folder for the sandboxes' configurations and logs; preferably on tmpfs. */
  stateDir: string
  logger: Logger
  /** Memory limit for all sandboxes together. Default: unlimited. */
  memoryBytesMax?: number
  /** Allows commands over the control socket if its probe succeeds. Default true. */
  controlSocket?: boolean
}

/** It lacks no capability. */
export type GvisorDriver = RuntimeDriver & { readonly capabilities: AllCapabilities }

const handleVersion = 1
/** A panic message of a sentry takes a few MiB. */
const panicLogBytesMax = 16 * 2 ** 20

/** Creates a driver that uses this machine's runsc. It checks nothing before `fingerprint`. */
export function createGvisorDriver(options: GvisorOptions): GvisorDriver {
  const { rootDir, stateDir, logger } = options
  const panicLog = join(stateDir, 'panic.log')
  const runsc = createRunsc(options.runscPath, rootDir, panicLog)
  const readRelease = createReleaseReader(runsc.path)
  const mounts = readCgroupMounts()
  const leftOutputs = new LeftOutputs(logger)
  const sandboxes = new Map<string, LiveSandbox>()
  const background = new BackgroundBoots()
  const guards = new MemoryGuards()
  let onOutOfMemory = (_event: OutOfMemory): void => undefined
  const folderOf = (id: string) => join(stateDir, id)
  let isRotating = false

  const sandboxOf = (handle: SandboxHandle, guardMemory = guard): LiveSandbox => {
    const id = sandboxId(handle.dockId, handle.generation)
    const known = sandboxes.get(id)
    if (known) return known
    const found = new LiveSandbox(handle, rootDir, mounts, guards, {
      program: programIdentity(folderOf(id)),
      runscName: runscNameOf(folderOf(id), id),
    })
    // Do not keep a dead sandbox: a later boot may use the same id.
    if (!found.isAlive) return found
    sandboxes.set(id, found)
    guardMemory(found, handle)
    return found
  }
  const guard = (sandbox: LiveSandbox, { dockId, generation }: SandboxHandle): void => {
    try {
      sandbox.guardMemory((process) => onOutOfMemory({ dockId, generation, process }))
    } catch (error) {
      logger.warn(
        { err: error, sandbox: sandbox.id },
        'no memory guard: out of memory, the kernel may kill the sandbox',
      )
    }
  }
  /** Takes a millisecond, in which the caller of a boot begins to save the handle. */
  const guardSoon = (...of: Parameters<typeof guard>): void => void setImmediate(guard, ...of)
  const sentryOf = async (id: string): Promise<Sentry> => {
    const sandbox = sandboxes.get(id)
    if (!sandbox) throw new Error(`sandbox ${id} is unknown to this driver`)
    return sandbox.sentry()
  }
  /** The runsc that the sandbox runs on, which may be an earlier release. */
  const runscFor = (id: string) => runscOf(runsc, folderOf(id), sandboxes.get(id)?.process?.pid)
  const byCommand = createRunscTransport(
    (id) => ({ runsc: runscFor(id), name: runscNameOf(folderOf(id), id) }),
    stateDir,
  )
  const bySocket = createSentryTransport(sentryOf)
  const chosen =
    options.controlSocket === false
      ? undefined
      : createTransportPerProgram(
          (id) => ({ identity: sandboxes.get(id)?.program ?? '', runsc: runscFor(id) }),
          (program) =>
            chooseTransport(bySocket, byCommand, () => bootProbeSandbox(program, mounts, stateDir), logger),
        )
  const transport = chosen ?? byCommand

  const rename = (over: ExecTransport, id: string, hostname: string): Promise<void> =>
    renameSandbox(over, stateDir, id, hostname)
  const renameProbe = async (name: string, hostname: string): Promise<void> => {
    await rename(
      createRunscTransport(() => ({ runsc, name }), stateDir),
      name,
      hostname,
    )
    if (!chosen) return
    const { controlSocket } = await readSandboxState(rootDir, name)
    const sentry = new Sentry(controlSocket ?? '', name)
    await rename(
      createSentryTransport(async () => sentry),
      name,
      hostname,
    ).finally(() => sentry.close())
  }
  const blanks = new Blanks({ runsc, mounts, stateDir, renameProbe, logger })

  const remove = async (id: string): Promise<void> => {
    const sandbox = sandboxes.get(id)
    sandbox?.closeGuard()
    await removeSandbox(runsc, mounts, id, folderOf(id))
    sandbox?.close()
    sandboxes.delete(id)
  }

  const capabilities: AllCapabilities = {
    blanks: { create: (spec) => blanks.create(spec), remove: (netnsPath) => blanks.remove(netnsPath) },
    freezing: {
      freeze: async (handle) => {
        const sandbox = sandboxOf(handle)
        await sandbox.use(() => sandbox.cgroup.freeze())
        sandbox.isFrozen = true
        // What is written to the disk is in the host's memory, and the host writes it.
        return true
      },
      thaw: async (handle) => {
        const sandbox = sandboxOf(handle)
        // A user waits for this sandbox: it was claimed, or an idle Dock is used again.
        background.pauseAll()
        await sandbox.use(async () => sandbox.cgroup.thaw())
        sandbox.isFrozen = false
      },
    },
    readUsage: async (handle) => {
      const sandbox = sandboxOf(handle)
      return sandbox.use(() => sandbox.cgroup.usage())
    },
    isOutdated: ({ dockId, generation }) => isOutdated(runsc, folderOf(sandboxId(dockId, generation))),
    rename: async (handle, hostname) => {
      const sandbox = sandboxOf(handle)
      await sandbox.use(() => rename(transport, sandbox.id, hostname))
    },
    keepLeftOutputs: (keep) => leftOutputs.keepWith(keep),
    watchMemory: (listener) => {
      onOutOfMemory = listener
    },
  }

  return {
    name: 'gvisor',
    capabilities,
    takesDisk: 'mount',
    memoryHeadroomMiB: headroomMiB,
    fingerprint: async () => {
      requireCgroups(mounts)
      if (!isRotating) rotateLogs([panicLog], panicLogBytesMax, (text) => logger.warn(text))
      isRotating = true
      if (options.memoryBytesMax !== undefined) {
        try {
          guards.watchShared(shareMemory(mounts, options.memoryBytesMax, logger))
        } catch (error) {
          logger.warn({ err: error }, 'could not limit the total memory of all Docks')
        }
      }
      await blanks.removeLeftovers()
      const { release, netCoreHidden } = await fingerprintRunsc(runsc.path, readRelease, logger)
      void chosen?.prepare({ identity: identityOf(runsc.path), runsc })
      const { version, ...more } = release
      const detail = {
        ...more,
        platform: 'systrap',
        exec: transport.name,
        netCoreHidden: String(netCoreHidden),
      }
      return { driver: 'gvisor', version, detail }
    },
    readRelease,
    start: async (spec) => {
      const { dockId, generation, memoryMiB, hostname } = spec
      const id = sandboxId(dockId, generation)
      const handleOf = (process: HostProcess): SandboxHandle => ({
        ...{ driver: 'gvisor', version: handleVersion, dockId, generation },
        data: { ...process, memoryMiB },
      })
      const parts = {
        ...{ runsc, mounts, blanks },
        rename: (process: HostProcess) => {
          sandboxOf(handleOf(process), guardSoon)
          return rename(transport, id, hostname)
        },
      }
      const isOver = spec.inBackground ? background.begin(SandboxCgroup.named(mounts, id)) : undefined
      try {
        const handle = handleOf(await startSandbox(parts, spec, id, folderOf(id)))
        sandboxOf(handle, guardSoon).batchScheduling.resetSoon()
        return handle
      } catch (error) {
        await remove(id).catch((cause) =>
          logger.warn({ err: cause, sandbox: id }, 'could not clean up after a failed start'),
        )
        throw error
      } finally {
        isOver?.()
      }
    },
    recover: async (handle) => (sandboxOf(handle).isAlive ? 'running' : 'gone'),
    wait: async (handle) => {
      const sandbox = sandboxOf(handle)
      await sandbox.waitForDeath()
      const { dockId, generation } = handle
      if (sandbox.ranOutOfMemory) onOutOfMemory({ dockId, generation, process: null })
    },
    exec: async (handle, request) => {
      const sandbox = sandboxOf(handle)
      return sandbox.use(() => {
        sandbox.batchScheduling.begin()
        return runInSandbox(transport, sandbox, request, leftOutputs)
      })
    },
    destroy: (handle) => remove(sandboxId(handle.dockId, handle.generation)),
    list: async () => {
      const folders = [stateDir, rootDir].map((folder) => readdir(folder).catch(() => []))
      const names = (await Promise.all(folders)).flat()
      const ids = new Set(names.map((name) => name.split('_')[0] ?? ''))
      const handles: SandboxHandle[] = []
      for (const id of ids) {
        const parsed = parseSandboxId(id)
        if (!parsed) continue
        const process = hostProcess((await readSandboxState(rootDir, runscNameOf(folderOf(id), id))).pid)
        handles.push({ driver: 'gvisor', version: handleVersion, ...parsed, data: { ...process } })
      }
      return handles
    },
    processes: async (handle) => {
      const sandbox = sandboxOf(handle)
      return sandbox.use(() => listProcesses(runscFor(sandbox.id), sandbox))
    },
    openProcess: async (handle, request) => {
      const sandbox = sandboxOf(handle)
      const opened = await sandbox.use(() => {
        sandbox.batchScheduling.begin()
        return openProcess(transport, sandbox, request, leftOutputs)
      })
      const exited = sandbox.use(() => opened.exited)
      exited.catch(() => undefined)
      return { ...opened, exited }
    },
    signalProcess: async (handle, reference, signal, target) => {
      const sandbox = sandboxOf(handle)
      const list = () => listProcesses(runscFor(sandbox.id), sandbox)
      await sandbox.use(() => signalProcess(transport, sandbox, reference, signal, target, list))
    },
    resizeProcess: async (handle, { pid, pty }, cols, rows) => {
      if (!pty || pid === 0) return
      const sandbox = sandboxOf(handle)
      await sandbox.use(() => resizeTerminal(transport, sandbox.id, pid, { cols, rows }))
    },
    waitForExec: async (handle, { pid }) => {
      if (pid === 0) return undefined
      const sandbox = sandboxOf(handle)
      return sandbox.use(async () => {
        const sentry = await sandbox.sentry()
        return sentry.wait(pid).then(exitCodeOf, (error: unknown) => {
          if (error instanceof SentryRefused) return undefined
          throw error
        })
      })
    },
    abandonedExecs: async (handle) => {
      const sandbox = sandboxOf(handle)
      return sandbox.use(async () => {
        const processes = await (await sandbox.sentry()).processes()
        return abandonedExecs(transport, sandbox.id, processes, sandbox.underWay)
      })
    },
    endExec: async (handle, { mark }) => {
      const sandbox = sandboxOf(handle)
      await sandbox.use(() => endTree(transport, sandbox, { mark, ageMs: 0, kill: async () => undefined }))
    },
  }
}
