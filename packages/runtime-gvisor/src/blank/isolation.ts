/** What the kernel confines a gofer to: its users, capabilities, system calls and namespaces. */
import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export type Isolation = { status: string; ownNamespaces: string }

const lines = /^(?:Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp\w*):.*$/gm
const isFiltered = /^Seccomp:\s*2$/m
const namespaces = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts']
const filterTimeoutMs = 5_000
const pollMs = 2

const namespacesOf = (pid: number | 'self'): string[] =>
  namespaces.map((name) => readlinkSync(`/proc/${pid}/ns/${name}`))

const read = (pid: number): Isolation => {
  const text = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'utf8')
  const status = [...(text('status').match(lines) ?? []), ...['uid_map', 'gid_map', 'setgroups'].map(text)]
  const ours = namespacesOf('self')
  const own = namespacesOf(pid).map((link, index) => `${namespaces[index]}: ${link !== ours[index]}`)
  return { status: status.join('\n'), ownNamespaces: own.join('\n') }
}

/** Reads the isolation of a gofer once it has its filter of system calls, which is the last step of its confinement. */
export async function isolationOf(pid: number): Promise<Isolation> {
  const deadline = performance.now() + filterTimeoutMs
  for (;;) {
    const found = read(pid)
    if (isFiltered.test(found.status)) return found
    if (performance.now() > deadline) throw new Error(`gofer ${pid} has no filter of system calls`)
    await delay(pollMs)
  }
}
