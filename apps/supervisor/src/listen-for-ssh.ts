/** Opens the SSH gateway's listening socket, and tells how to reach it. */
import { listenOnPort, PortTaken } from './listening-sockets.ts'
import type { Settings } from './settings.ts'

/**
 * Listens on the SSH port. If it is taken, throws if the operator has chosen the port. Otherwise a second Dock on this
 * machine must start too, so a notice says that SSH is off.
 */
export async function listenForSsh({
  ssh,
  bind,
}: Pick<Settings, 'ssh' | 'bind'>): Promise<{ descriptor: number | undefined; notices: string[] }> {
  if (!ssh) return { descriptor: undefined, notices: [] }
  try {
    const setting = { name: 'DOCK_SSH_PORT', example: '2223' }
    return { descriptor: await listenOnPort(bind, ssh.port, setting), notices: [] }
  } catch (error) {
    if (ssh.isChosen || !(error instanceof PortTaken)) throw error
    const notice = `SSH is off because port ${ssh.port} is taken. Choose another one with DOCK_SSH_PORT, or turn SSH off with DOCK_SSH_PORT=off.`
    return { descriptor: undefined, notices: [notice] }
  }
}

/** Returns the command with which a person opens a shell in a Dock. */
export function sshCommand({ ssh, bind, environment }: Settings): string {
  const url = environment['DOCK_PUBLIC_URL']
  const everywhere = ['0.0.0.0', '::', '']
  const host = url
    ? new URL(url).hostname.replace(/^\[|\]$/g, '')
    : everywhere.includes(bind)
      ? '127.0.0.1'
      : bind
  return `ssh ${ssh?.port === 22 ? '' : `-p ${ssh?.port} `}NAME@${host}`
}
