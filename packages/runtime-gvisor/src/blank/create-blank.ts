/**
 * Creates a blank sandbox. It is booted before it is known for which Dock. Processors, memory and the network namespace
 * are fixed when a sandbox is created. Its disk, host name and preparation arrive with the Dock (`start-blank.ts`).
 */
import { mkdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CgroupMount, SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import { bootCpus } from '../cgroup/shown-cpus.ts'
import { recordBlank } from '../runsc/blank-record.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { recordProgram } from '../runsc/sandbox-program.ts'
import { readSandboxState } from '../runsc/sandbox-state.ts'
import { waitingProcess } from '../sandbox/first-process.ts'
import { type BootSpec, ociConfig } from '../sandbox/oci-config.ts'
import { DetachedCall, withinBootTime } from '../sandbox/run-detached.ts'
import { type HostProcess, hostProcess } from '../system/host-process.ts'
import { type Isolation, isolationOf } from './isolation.ts'
import { replaceGofer, type WaitingGofer } from './waiting-gofer.ts'

/** What is fixed when a sandbox is created. */
export type BlankSpec = Pick<BootSpec, 'cpus' | 'memoryMiB' | 'netnsPath' | 'inMemory' | 'isReadOnly'>

export type Blank = {
  /** The name under which runsc knows it. */
  name: string
  folder: string
  spec: BlankSpec
  sentry: HostProcess
  gofer: WaitingGofer
  /** What the gofer of runsc was confined to. */
  isolation: Isolation
  group: SandboxCgroup
  streams: DetachedCall
}

const noHostname = 'localhost'

/** Returns the configuration of a blank sandbox with the disk that is mounted at `disk`. */
export function blankConfig(spec: BlankSpec, name: string, disk: string, cpus?: string): object {
  return ociConfig(
    { ...spec, hostname: noHostname, disk: { mount: disk }, inBackground: true },
    name,
    waitingProcess,
    cpus,
  )
}

/** If this fails, the caller must remove what is left of the name. */
export async function createBlank(
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  spec: BlankSpec,
  name: string,
  folder: string,
): Promise<Blank> {
  const noDisk = join(folder, 'no-disk')
  await mkdir(runsc.rootDir, { recursive: true, mode: 0o700 })
  // At once, because a folder without a record is left over.
  mkdirSync(noDisk, { recursive: true, mode: 0o700 })
  recordBlank(folder, { gofer: null })
  recordProgram(runsc, folder)
  const cpus = bootCpus(mounts, spec.cpus)
  await writeFile(join(folder, 'config.json'), JSON.stringify(blankConfig(spec, name, noDisk, cpus)), {
    mode: 0o600,
  })
  const args = await runsc.bootArgs('create', `--bundle=${folder}`, name)
  const streams = new DetachedCall(runsc.path, args, { takesInput: true, isBatch: true })
  let gofer: WaitingGofer | undefined
  try {
    await withinBootTime(streams.exited)
    const { pid, goferPid } = await readSandboxState(runsc.rootDir, name)
    const sentry = hostProcess(pid)
    if (!sentry) throw new Error(`blank sandbox ${name} died while it was created`)
    const group = SandboxCgroup.ofProcess(mounts, pid, name)
    if (cpus !== undefined) group.useAllCpus()
    const isolation = await isolationOf(goferPid)
    gofer = await replaceGofer(goferPid, join(folder, 'late-config.json'), group)
    recordBlank(folder, { gofer: gofer.process })
    // A sentry that waits takes 2 % of a processor.
    await group.freeze()
    return { name, folder, spec, sentry, gofer, isolation, group, streams }
  } catch (error) {
    streams.close()
    gofer?.close()
    throw error
  }
}
