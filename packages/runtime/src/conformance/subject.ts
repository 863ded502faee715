/** State shared by the parts of the suite: a driver and a running sandbox. */
import type { ExecRequest, RuntimeDriver, SandboxHandle, SandboxSpec } from '../driver.ts'

export type Subject = {
  driver: RuntimeDriver
  spec: SandboxSpec
  handle: SandboxHandle
  /** True if commands run in a real shell. */
  readonly hasShell: boolean
  readonly rootMayRename: boolean
  /** Creates another driver instance on the same state. */
  makeDriver(): RuntimeDriver
  /** Returns the specification of a sandbox that may run beside the others. */
  makeSpec(): Promise<SandboxSpec>
  /** Runs a script and returns its standard output. */
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
