/**
 * Sandboxes by gVisor. What the driver makes for a sandbox is a folder `<stateDir>/<sandbox id>` and what runsc
 * keeps in `rootDir`; both are named by Dock and generation, so leftovers are found without any handle.
 */
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Logger, runCommand } from '@dock/foundation'
import {
  ExecRefused,
  type ExecRequest,
  type Fingerprint,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
} from '@dock/runtime'
import { firstProcess } from './first-process.ts'
import { type HostProcess, hostProcess, isAlive, untilDead } from './host-process.ts'
import { ociConfig } from './oci-config.ts'
import { runDetached } from './run-detached.ts'
import { createRunsc } from './runsc.ts'
import { createRunscExec } from './runsc-exec.ts'
import { parseSandboxId, sandboxId } from './sandbox-id.ts'

export type GvisorOptions = {
  /** The runsc program. */
  runscPath: string
  /** Where runsc keeps its state. */
  rootDir: string
  /** Where the driver keeps each sandbox's configuration and log; best on tmpfs. */
  stateDir: string
  logger: Logger
}

const version = 1
const oldestRelease = 20240101
const deathTimeoutMs = 5000
const removalPollMs = 5

/** A driver on this machine's runsc. Nothing is probed until `fingerprint`. */
export const createGvisorDriver = (options: GvisorOptions): RuntimeDriver => {
  const { rootDir, stateDir, logger } = options
  const runsc = createRunsc(options.runscPath, rootDir, join(stateDir, 'panic.log'))
  const transport = createRunscExec(runsc, join('/dev/shm', `dock-exec-${process.pid}`))
  const folderOf = (id: string) => join(stateDir, id)
  const idOf = (handle: SandboxHandle) => sandboxId(handle.dockId, handle.generation)

  const processOf = (handle: SandboxHandle): HostProcess | undefined => {
    const { pid, startTime } = handle.data
    return typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
  }
  const runs = (handle: SandboxHandle): boolean => {
    const sandbox = processOf(handle)
    return sandbox !== undefined && isAlive(sandbox)
  }

  const readState = async (id: string): Promise<{ pid: number; goferPid: number }> => {
    const names = await readdir(rootDir).catch(() => [])
    const name = names.find((candidate) => candidate.startsWith(`${id}_`) && candidate.endsWith('.state'))
    if (!name) return { pid: 0, goferPid: 0 }
    const state = JSON.parse(await readFile(join(rootDir, name), 'utf8')) as {
      goferPid?: number
      sandbox?: { pid?: number }
    }
    return { pid: state.sandbox?.pid ?? 0, goferPid: state.goferPid ?? 0 }
  }

  const remove = async (id: string): Promise<void> => {
    const { pid } = await readState(id)
    const sandbox = pid > 0 ? hostProcess(pid) : undefined
    const deleted = await runsc.run(['delete', '--force', id])
    if (sandbox) {
      const late = setTimeout(() => {
        if (isAlive(sandbox)) process.kill(sandbox.pid, 'SIGKILL')
      }, deathTimeoutMs)
      await untilDead(sandbox, removalPollMs)
      clearTimeout(late)
    }
    if (deleted.code !== 0 && (await readState(id)).pid > 0) {
      throw new Error(`runsc delete ${id}: ${deleted.stderr.trim().slice(-500)}`)
    }
    await rm(folderOf(id), { recursive: true, force: true })
  }

  const boot = async (spec: SandboxSpec, id: string): Promise<SandboxHandle> => {
    const folder = folderOf(id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await mkdir(rootDir, { recursive: true, mode: 0o700 })
    const config = ociConfig(spec, id, firstProcess(spec.prepare))
    await writeFile(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 })
    await runDetached(runsc.path, runsc.args('run', '--detach', `--bundle=${folder}`, id))
    const { pid, goferPid } = await readState(id)
    const sandbox = hostProcess(pid)
    if (!sandbox) throw new Error(`sandbox ${id} died while it started`)
    await Promise.all(
      [pid, goferPid].filter((each) => each > 0).map((each) => writeFile(`/proc/${each}/oom_score_adj`, '0')),
    )
    return {
      driver: 'gvisor',
      version,
      dockId: spec.dockId,
      generation: spec.generation,
      data: { ...sandbox },
    }
  }

  return {
    name: 'gvisor',
    fingerprint: async (): Promise<Fingerprint> => {
      await access(runsc.path).catch(() => {
        throw new Error(`no runsc at ${runsc.path}: run script/install/runsc ${runsc.path}`)
      })
      const text = await runCommand(runsc.path, ['--version'], { timeoutMs: 10_000 })
      const release = /\d{8}/.exec(text)?.[0] ?? ''
      if (release && Number(release) < oldestRelease) {
        throw new Error(`runsc ${release} is too old: run script/install/runsc ${runsc.path}`)
      }
      // runsc takes a namespace that shows this file for the machine's own and refuses to network in it.
      const showsCore = await stat('/proc/sys/net/core/rmem_default').then(
        () => true,
        () => false,
      )
      if (showsCore) logger.warn('net/core is visible: runsc of 2024 needs a mount namespace that hides it')
      return {
        driver: 'gvisor',
        version: release || text.split('\n')[0] || 'unknown',
        detail: { platform: 'systrap', exec: transport.name, netCoreHidden: String(!showsCore) },
      }
    },
    start: async (spec) => {
      const id = sandboxId(spec.dockId, spec.generation)
      try {
        return await boot(spec, id)
      } catch (error) {
        await remove(id).catch((cause) =>
          logger.warn({ err: cause, sandbox: id }, 'failed start left something'),
        )
        throw error
      }
    },
    recover: async (handle) => (runs(handle) ? 'running' : 'gone'),
    wait: async (handle) => {
      const sandbox = processOf(handle)
      if (sandbox) await untilDead(sandbox)
    },
    exec: async (handle: SandboxHandle, request: ExecRequest) => {
      if (!runs(handle)) throw new SandboxGone(`sandbox ${idOf(handle)} is gone`)
      try {
        return await transport.exec(idOf(handle), request)
      } catch (error) {
        if (error instanceof ExecRefused && !runs(handle)) throw new SandboxGone(error.message)
        throw error
      }
    },
    destroy: (handle) => remove(idOf(handle)),
    list: async () => {
      const names = [
        ...(await readdir(stateDir).catch(() => [])),
        ...(await readdir(rootDir).catch(() => [])),
      ]
      const ids = new Set(names.map((name) => name.split('_')[0] ?? ''))
      const handles: SandboxHandle[] = []
      for (const id of ids) {
        const parsed = parseSandboxId(id)
        if (!parsed) continue
        const sandbox = hostProcess((await readState(id)).pid)
        handles.push({ driver: 'gvisor', version, ...parsed, data: sandbox ? { ...sandbox } : {} })
      }
      return handles
    },
  }
}
