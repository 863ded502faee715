/**
 * Which processes of a sandbox are the platform's: process 1, which is the service for `sudo`. In Docks of images made
 * earlier it keeps that service, and a supervisor of it, below itself.
 */
import type { SandboxProcess } from '@dock/runtime'

type Listed = Omit<SandboxProcess, 'isPlatform'>

/** Adds to each process whether the platform started it. A command below the service is its caller's. */
export function asPlatformKnows(listed: readonly Listed[]): SandboxProcess[] {
  const supervisors = new Set(
    listed.filter((each) => each.parentPid === 1 && each.name === 's6-supervise').map((each) => each.pid),
  )
  const isPlatform = ({ pid, parentPid, name }: Listed): boolean =>
    pid === 1 || supervisors.has(pid) || (supervisors.has(parentPid) && name === 's6-ipcserverd')
  return listed.map((each) => ({ ...each, isPlatform: each.uid === 0 && isPlatform(each) }))
}
