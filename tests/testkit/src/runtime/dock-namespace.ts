/** A network namespace like that of a Dock, whose other end lies in a second namespace instead of on this machine. Needs root. */
import { runCommand, tryCommand } from '@dock/foundation'

export type DockNamespace = {
  /** Name of the namespace that takes the part of the host. */
  host: string
  /** Name of the namespace that takes the part of the Dock. Its interface is called `eth0`. */
  dock: string
  netnsPath: string
  gateway: string
  address: string
  mtu: number
  remove(): Promise<void>
}

/** Interface of the namespace that takes the part of the host. */
export const hostInterface = 'docks'
let count = 0

export async function makeDockNamespace(): Promise<DockNamespace> {
  count += 1
  const tag = `dvm${process.pid}-${count}`
  const [host, dock] = [`${tag}h`, `${tag}d`]
  const [gateway, address, mtu] = ['192.0.2.1', '192.0.2.2', 1400]
  const remove = async (): Promise<void> => {
    for (const name of [dock, host]) await tryCommand('ip', ['netns', 'delete', name])
  }
  const commands = [
    ['netns', 'add', host],
    ['netns', 'add', dock],
    [
      '-netns',
      host,
      'link',
      'add',
      'name',
      hostInterface,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      dock,
    ],
    ['-netns', host, 'address', 'add', `${gateway}/30`, 'dev', hostInterface],
    ['-netns', host, 'link', 'set', 'dev', hostInterface, 'up'],
    ['-netns', dock, 'link', 'set', 'eth0', 'up', 'mtu', String(mtu)],
    ['-netns', dock, 'address', 'add', `${address}/30`, 'dev', 'eth0'],
    ['-netns', dock, 'route', 'add', 'default', 'via', gateway],
  ]
  try {
    for (const command of commands) await runCommand('ip', command)
  } catch (error) {
    await remove()
    throw error
  }
  return { host, dock, netnsPath: `/run/netns/${dock}`, gateway, address, mtu, remove }
}
