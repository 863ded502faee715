/** Boots a sandbox that no Dock gets, measures it, and removes it. */
import { readableName } from '@dock/foundation'
import type { RuntimeTest, TestRuntime } from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import type { DockState } from '../sandboxes/dock-state.ts'
import { dockUser, loginShell } from '../sandboxes/login-shell.ts'
import { bootDock } from './boot-dock.ts'

const commandTimeoutMs = 30_000
const samples = 5

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Returns the median of a few times of the work. */
const median = async (work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let sample = 0; sample < samples; sample += 1) times.push(await timed(work))
  return times.sort((one, other) => one - other)[Math.floor(samples / 2)] ?? 0
}

/** `dock` is one that this host does not know. The caller removes what is left of it, also after an error. */
export async function testRuntime(dock: DockState, wanted: TestRuntime): Promise<RuntimeTest> {
  const { driver } = dock.parts
  const { image, ...size } = wanted
  const bootMs = await timed(() =>
    // Generation 0 is that of the warm pool, to which it belongs if this agent dies meanwhile.
    bootDock(dock, {
      ...{ operationId: 'self-test', generation: 0, hostname: readableName(), ...size },
      ...{ source: { kind: 'image', image }, newIdentity: false },
    }),
  )
  const sandbox: SandboxHandle | null = dock.live
  if (!sandbox) throw new Error('the sandbox ended at once')
  const exec = async (): Promise<void> => {
    const { exitCode, stdout, stderr } = await driver.exec(sandbox, {
      ...loginShell('echo ready'),
      ...{ cwd: dockUser.home, timeoutMs: commandTimeoutMs, outputLimitBytes: 1024 },
    })
    if (exitCode !== 0 || stdout.toString() !== 'ready\n')
      throw new Error(`echo ready: exit ${exitCode}: ${stdout}${stderr}`)
  }
  await exec()
  const execMs = await median(exec)
  const { freezing } = driver.capabilities
  if (!freezing) return { bootMs, execMs, thawMs: null }
  await freezing.freeze(sandbox)
  const thawMs = await timed(async () => {
    await freezing.thaw(sandbox)
    await exec()
  })
  return { bootMs, execMs, thawMs }
}
