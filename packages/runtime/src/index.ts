export {
  ExecRefused,
  type ExecRequest,
  type ExecResult,
  type Fingerprint,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
  type SandboxState,
  sandboxHandle,
} from './driver.ts'
export { createFakeDriver, type FakeDriver, type FakeMachine } from './fake-driver.ts'
