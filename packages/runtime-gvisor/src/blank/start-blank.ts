/** Makes a blank sandbox the sandbox of a Dock: gives it the Dock's disk, host name and preparation. */
import { writeFileSync } from 'node:fs'
import type { Runsc } from '../runsc/runsc.ts'
import { sandboxScore } from '../sandbox/boot-sandbox.ts'
import { lateInput } from '../sandbox/first-process.ts'
import type { BootSpec } from '../sandbox/oci-config.ts'
import { withinBootTime } from '../sandbox/run-detached.ts'
import { type Blank, blankConfig } from './create-blank.ts'
import { isolationOf } from './isolation.ts'

/**
 * Resolves when process 1 is ready. `rename` sets the host name of the running sandbox. If this fails, the caller must
 * remove the sandbox.
 */
export async function startBlank(
  runsc: Runsc,
  blank: Blank,
  spec: BootSpec,
  rename: () => Promise<void>,
): Promise<void> {
  const { name, gofer, streams, group, sentry } = blank
  if (!('mount' in spec.disk)) throw new Error('gVisor takes a mounted disk')
  group.shareEqually()
  group.thaw()
  gofer.start(blankConfig(blank.spec, name, spec.disk.mount))
  const start = async (): Promise<void> => {
    const { code, stderr } = await runsc.run(['start', name])
    if (code !== 0) throw new Error(`runsc start: exit ${code}: ${stderr.trim().slice(-500)}`)
    // Process 1 needs some time until it reads its input.
    await rename()
    streams.give(lateInput(spec))
    await streams.ready
  }
  try {
    await withinBootTime(start())
  } finally {
    streams.close()
  }
  const { status, ownNamespaces } = await isolationOf(gofer.process.pid)
  if (status !== blank.isolation.status || ownNamespaces !== blank.isolation.ownNamespaces)
    throw new Error(`the gofer of ${name} is confined differently:\n${status}\n${ownNamespaces}`)
  group.limitCpus(spec.cpus)
  for (const { pid } of [sentry, gofer.process]) writeFileSync(`/proc/${pid}/oom_score_adj`, sandboxScore)
}
