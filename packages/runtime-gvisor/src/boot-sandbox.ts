/** Starts a sandbox: its folder, its configuration, one `runsc run` that ends when the first process is ready. */
import { mkdir, writeFile } from 'node:fs/promises'
import type { SandboxSpec } from '@dock/runtime'
import { firstProcess } from './first-process.ts'
import { type HostProcess, hostProcess } from './host-process.ts'
import { ociConfig } from './oci-config.ts'
import { runDetached } from './run-detached.ts'
import type { Runsc } from './runsc.ts'
import { type CgroupMount, SandboxCgroup } from './sandbox-cgroup.ts'
import { recordProgram } from './sandbox-program.ts'
import { readSandboxState } from './sandbox-state.ts'

/** Where the processes inside have 800. */
const sandboxScore = '500'

/** Answers the sandbox's process on the host. What a failed start leaves is for the caller to remove. */
export async function bootSandbox(
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  spec: SandboxSpec,
  id: string,
  folder: string,
): Promise<HostProcess> {
  await Promise.all([folder, runsc.rootDir].map((each) => mkdir(each, { recursive: true, mode: 0o700 })))
  const config = ociConfig(spec, id, firstProcess(spec.prepare))
  await writeFile(`${folder}/config.json`, JSON.stringify(config), { mode: 0o600 })
  recordProgram(runsc, folder)
  await runDetached(runsc.path, runsc.args('run', '--detach', `--bundle=${folder}`, id), spec.prepare?.input)
  const { pid, goferPid } = await readSandboxState(runsc.rootDir, id)
  const sandbox = hostProcess(pid)
  if (!sandbox) throw new Error(`sandbox ${id} died while it started`)
  const cgroup = SandboxCgroup.ofProcess(mounts, pid, id)
  cgroup.limitCpus(spec.cpus)
  if (spec.inBackground) cgroup.shareEqually()
  // When the machine's memory runs out a process inside is to go, then the sandbox, and the platform (at 0 and below) last.
  await Promise.all(
    [pid, goferPid]
      .filter((each) => each > 0)
      .map((each) => writeFile(`/proc/${each}/oom_score_adj`, sandboxScore)),
  )
  return sandbox
}
