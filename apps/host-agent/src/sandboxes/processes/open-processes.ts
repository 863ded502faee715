import type { OpenProcess, SandboxHandle } from '@dock/runtime'

export type AttachedProcess = {
  sandbox: SandboxHandle
  opened: OpenProcess
  /** A login shell on a pseudo-terminal: a person sits at it. */
  isTerminal: boolean
}

/** The attached processes of one Dock by id. Null while a process is being started. */
export type OpenProcesses = Map<string, AttachedProcess | null>
