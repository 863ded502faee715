export {
  ExecRefused,
  type ExecRequest,
  type ExecResult,
  type Fingerprint,
  type RuntimeDriver,
  type SandboxHandle,
  type SandboxSpec,
  type SandboxState,
  SandboxGone,
  sandboxHandle,
} from './driver.ts'
