/**
 * The gateway as ssh needs it. The service names host and port, and the values reach a command line and a configuration
 * file of ssh, where a value such as `-oProxyCommand=…` or one with a line break would run a program here.
 */
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Client } from '@dock/sdk'
import { isId } from '../docks/pick.ts'
import type { Environment } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'
import { configFolder } from '../settings/profiles.ts'

export type SshTarget = { host: string; port: number }

const refuse = (what: string): LocalError =>
  new LocalError('ssh_refused', `The service named ${what} for SSH that is not valid. Nothing was done.`)

/** Returns the host if it is a name or an address, and nothing else. */
export function checkedHost(host: unknown): string {
  if (typeof host !== 'string' || host.length > 253) throw refuse('a host')
  const isName = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i.test(host)
  if (!isName && isIP(host) === 0) throw refuse('a host')
  return host
}

export function checkedPort(port: unknown): number {
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) throw refuse('a port')
  return port
}

/** Returns the user of the gateway for a Dock: its id. */
export function checkedUser(id: unknown): string {
  if (typeof id !== 'string' || !isId(id)) throw refuse('a Dock')
  return id
}

/** Returns where the gateway is. */
export async function readSshTarget(client: Client): Promise<SshTarget> {
  const { ssh } = await client.call('readConfig')
  if (!ssh)
    throw new LocalError(
      'ssh_off',
      'SSH is off at this service. Ask its operator, or use dock shell and dock exec.',
    )
  return { host: checkedHost(ssh.host), port: checkedPort(ssh.port) }
}

/** Returns a path as ssh reads it in a configuration file. */
export function quotedPath(path: string): string {
  if (/["\n\r\0]/.test(path))
    throw new LocalError('ssh_refused', 'The path of your configuration has a quote or a line break.')
  return `"${path.replaceAll('\\', '\\\\').replaceAll('%', '%%')}"`
}

/** Returns the options of ssh, as pairs. The host's key is kept apart from those of other machines. */
export function sshOptions(env: Environment, { host, port }: SshTarget, id: string): [string, string][] {
  return [
    ['HostName', checkedHost(host)],
    ['Port', String(checkedPort(port))],
    ['User', checkedUser(id)],
    ['UserKnownHostsFile', quotedPath(join(configFolder(env), 'known_hosts'))],
    ['StrictHostKeyChecking', 'accept-new'],
    ['ServerAliveInterval', '30'],
  ]
}

/** Returns the arguments of ssh up to the command. */
export function sshArguments(
  env: Environment,
  target: SshTarget,
  id: string,
  more: readonly string[] = [],
): string[] {
  const options = sshOptions(env, target, id).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return [...options, ...more, '--', checkedHost(target.host)]
}
