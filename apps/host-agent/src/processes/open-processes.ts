import type { OpenProcess, SandboxHandle } from '@dock/runtime'

/** The attached processes of one Dock by id. Null while a process is being started. */
export type OpenProcesses = Map<string, { sandbox: SandboxHandle; opened: OpenProcess } | null>
