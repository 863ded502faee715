/** What the parts of the suite share: one driver, and one sandbox of it that runs. */
import type { ExecRequest, RuntimeDriver, SandboxHandle, SandboxSpec } from '../driver.ts'

export type Subject = {
  driver: RuntimeDriver
  spec: SandboxSpec
  handle: SandboxHandle
  /** Whether its commands are run by a real shell. */
  readonly hasShell: boolean
  /** One more instance on the same state. */
  makeDriver(): RuntimeDriver
  /** Standard output of a script. */
  text(script: string, more?: Partial<ExecRequest>): Promise<string>
}

export function request(script: string, more: Partial<ExecRequest> = {}): ExecRequest {
  return {
    argv: ['/bin/bash', '-c', script],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    cwd: '/',
    uid: 0,
    gid: 0,
    timeoutMs: 10_000,
    outputLimitBytes: 1_048_576,
    ...more,
  }
}
