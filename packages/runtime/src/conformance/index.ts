/** The test suite that every runtime driver must pass. Each driver runs it from a vitest file. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { RuntimeDriver, SandboxHandle, SandboxSpec } from '../driver.ts'
import { describeCommands } from './commands.ts'
import { describeEndings } from './endings.ts'
import { describePreparation } from './preparation.ts'
import { describeProcesses } from './processes.ts'
import { describeDestroy, describeSandbox } from './sandbox.ts'
import { request, type Subject } from './subject.ts'

export type ConformanceOptions = {
  /** False skips the tests that need a real shell. Default: true. */
  shell?: boolean
  /** True if root inside a sandbox is root in its kernel, and may change its name. */
  rootMayRename?: boolean
}

/**
 * Registers the suite. Each call of `makeDriver` must create another driver instance on the same state, and each of `makeSpec` must
 * return a sandbox of its own: of another Dock or a later generation, and with another disk unless sandboxes may share one.
 */
export function describeDriver(
  name: string,
  makeDriver: () => RuntimeDriver,
  makeSpec: () => Promise<SandboxSpec>,
  { shell = true, rootMayRename = false }: ConformanceOptions = {},
): void {
  describe(`runtime driver ${name}`, () => {
    let handle: SandboxHandle | undefined
    const subject = {
      hasShell: shell,
      rootMayRename,
      makeDriver,
      makeSpec,
      text: async (script, more) =>
        (await subject.driver.exec(subject.handle, request(script, more))).stdout.toString(),
    } as Subject

    beforeAll(async () => {
      subject.driver = makeDriver()
      subject.spec = await makeSpec()
      handle = await subject.driver.start(subject.spec)
      subject.handle = handle
    })
    afterAll(async () => {
      if (handle) await subject.driver.destroy(handle)
    })

    describeSandbox(subject)
    describePreparation(subject)
    describeCommands(subject)
    describeEndings(subject)
    describeProcesses(subject)
    describeDestroy(subject)
  })
}
