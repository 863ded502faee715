/**
 * Identifies the platform's processes in a sandbox: process 1, which is the service for `sudo`. With older images,
 * process 1 has a supervisor as a child, which has the service as a child.
 */
import type { SandboxProcess } from '@dock/runtime'

type Listed = Omit<SandboxProcess, 'isPlatform'>

/** Sets `isPlatform` on each process. A command that runs below the service belongs to its caller, not the platform. */
export function flagPlatformProcesses(listed: readonly Listed[]): SandboxProcess[] {
  const supervisors = new Set(
    listed.filter((each) => each.parentPid === 1 && each.name === 's6-supervise').map((each) => each.pid),
  )
  const isPlatform = ({ pid, parentPid, name }: Listed): boolean =>
    pid === 1 || supervisors.has(pid) || (supervisors.has(parentPid) && name === 's6-ipcserverd')
  return listed.map((each) => ({ ...each, isPlatform: each.uid === 0 && isPlatform(each) }))
}
