/** Starts a sandbox: creates its folder and configuration, and runs `runsc run` until process 1 is ready. */
import { mkdir, writeFile } from 'node:fs/promises'
import { type CgroupMount, SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import { bootCpus } from '../cgroup/shown-cpus.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { recordProgram } from '../runsc/sandbox-program.ts'
import { readSandboxState } from '../runsc/sandbox-state.ts'
import { type HostProcess, hostProcess } from '../system/host-process.ts'
import { firstProcess } from './first-process.ts'
import { type BootSpec, ociConfig } from './oci-config.ts'
import { runDetached } from './run-detached.ts'

/** `oom_score_adj` of the sandbox. Processes inside have 800, so the kernel kills them first. */
export const sandboxScore = '500'

/** Returns the sandbox's process on the host. If the start fails, the caller must remove what it left behind. */
export async function bootSandbox(
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  spec: BootSpec,
  id: string,
  folder: string,
): Promise<HostProcess> {
  await Promise.all([folder, runsc.rootDir].map((each) => mkdir(each, { recursive: true, mode: 0o700 })))
  const cpus = bootCpus(mounts, spec.cpus)
  const config = ociConfig(spec, id, firstProcess(spec), cpus)
  await writeFile(`${folder}/config.json`, JSON.stringify(config), { mode: 0o600 })
  recordProgram(runsc, folder)
  const args = await runsc.bootArgs('run', '--detach', `--bundle=${folder}`, id)
  await runDetached(runsc.path, args, spec.prepare?.input)
  const { pid, goferPid } = await readSandboxState(runsc.rootDir, id)
  const sandbox = hostProcess(pid)
  if (!sandbox) throw new Error(`sandbox ${id} died while it started`)
  const cgroup = SandboxCgroup.ofProcess(mounts, pid, id)
  cgroup.limitCpus(spec.cpus)
  if (cpus !== undefined) cgroup.useAllCpus()
  if (spec.inBackground) cgroup.shareEqually()
  // If the machine runs out of memory, the kernel should kill a process inside first, then the sandbox, then the
  // platform.
  await Promise.all(
    [pid, goferPid]
      .filter((each) => each > 0)
      .map((each) => writeFile(`/proc/${each}/oom_score_adj`, sandboxScore)),
  )
  return sandbox
}
