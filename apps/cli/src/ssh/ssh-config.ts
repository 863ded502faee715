/** The file that makes `ssh NAME.dock` work. */
import type { DockInfo } from '@dock/sdk'
import type { LongNamed } from '../docks/long-names.ts'
import type { Environment } from '../program/context.ts'
import { checkedUser, type SshTarget, sshOptions } from './ssh-target.ts'

export type SshHost = { host: string; dock: DockInfo }

/** Patterns, options and spaces have a meaning of their own in the file. */
const isPlain = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/.test(name)

const domain = '.dock'

/**
 * Returns the name of each Dock for ssh: its shortest name that no other Dock has, or its id, with `.dock` behind it.
 * Colleagues choose names. A Dock called like one of the user's servers must not get the connections to it, and what
 * ssh takes for a server also depends on patterns, included files, DNS and /etc/hosts. So there are no bare names.
 */
export function sshHosts(docks: readonly LongNamed[]): SshHost[] {
  const taken = new Set<string>()
  return docks.map(({ dock, names }) => {
    // Names of hosts are compared without regard to case.
    const name = names.find((each) => isPlain(each) && !taken.has(each.toLowerCase())) ?? checkedUser(dock.id)
    taken.add(name.toLowerCase())
    return { host: `${name}${domain}`, dock }
  })
}

/** Returns the text of the file. */
export function sshConfig(env: Environment, target: SshTarget, hosts: readonly SshHost[]): string {
  const blocks = hosts.map(({ host, dock }) =>
    [`Host ${host}`, ...sshOptions(env, target, dock.id).map(([name, value]) => `  ${name} ${value}`)].join(
      '\n',
    ),
  )
  return `# Written by dock config-ssh. It is replaced each time.\n${blocks.join('\n\n')}\n`
}

const include = 'Include dock_config'

/** Returns the user's configuration with the line that includes the file, at its beginning: later it would belong to a host. */
export function withInclude(config: string): string {
  return config.split('\n').some((line) => line.trim() === include) ? config : `${include}\n\n${config}`
}
