/** The file that makes `ssh NAME` work. */
import type { DockInfo } from '@dock/sdk'
import type { LongNamed } from '../docks/long-names.ts'
import type { Environment } from '../program/context.ts'
import { checkedUser, type SshTarget, sshOptions } from './ssh-target.ts'

export type SshHost = { host: string; dock: DockInfo }

/** Patterns, options and spaces have a meaning of their own in the file. */
const isPlain = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/.test(name)

/** Returns the hosts that a configuration of ssh names, in small letters. */
export function ownHosts(config: string): Set<string> {
  const names = config
    .split('\n')
    .flatMap((line) => /^\s*host(?:\s*=\s*|\s+)(.*)$/i.exec(line)?.[1]?.split(/[\s"]+/) ?? [])
  return new Set(names.map((name) => name.toLowerCase()))
}

/**
 * Returns the name of each Dock for ssh: its shortest name that no other Dock has, or its id. Colleagues choose names, and a
 * Dock called like one of the user's servers must not get the connections to it. So a name with a dot, and one of `own`,
 * is only used with `.dock` behind it.
 */
export function sshHosts(docks: readonly LongNamed[], own: ReadonlySet<string> = new Set()): SshHost[] {
  const taken = new Set<string>()
  return docks.map(({ dock, names }) => {
    // Names of hosts are compared without regard to case.
    const host = names.find((name) => isPlain(name) && !taken.has(name.toLowerCase())) ?? checkedUser(dock.id)
    taken.add(host.toLowerCase())
    const isShadowing = host.includes('.') || /^localhost$/i.test(host) || own.has(host.toLowerCase())
    return { host: isShadowing ? `${host}.dock` : host, dock }
  })
}

/** Returns the text of the file. */
export function sshConfig(env: Environment, target: SshTarget, hosts: readonly SshHost[]): string {
  const blocks = hosts.map(({ host, dock }) =>
    [
      `Host ${host.endsWith('.dock') ? host : `${host} ${host}.dock`}`,
      ...sshOptions(env, target, dock.id).map(([name, value]) => `  ${name} ${value}`),
    ].join('\n'),
  )
  return `# Written by dock config-ssh. It is replaced each time.\n${blocks.join('\n\n')}\n`
}

const include = 'Include dock_config'

/** Returns the user's configuration with the line that includes the file, at its beginning: later it would belong to a host. */
export function withInclude(config: string): string {
  return config.split('\n').some((line) => line.trim() === include) ? config : `${include}\n\n${config}`
}
