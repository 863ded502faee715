export {
  type ExecReference,
  ExecRefused,
  type ExecRequest,
  type ExecResult,
  execReference,
  type Fingerprint,
  type OutOfMemory,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxProcess,
  SandboxShortOfMemory,
  type SandboxSpec,
  type SandboxState,
  type SandboxUsage,
  sandboxHandle,
  type Terminal,
  type TerminalRequest,
} from './driver.ts'
export { createFakeDriver, type FakeDriver, type FakeMachine } from './fake-driver.ts'
export { createFakeTerminal, type FakeTerminal } from './fake-terminal.ts'
