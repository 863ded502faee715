/** A simulated part of the internet: a network namespace with its own addresses, connected to this machine. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Starts a program. Resolves when it has written something, and rejects if it ends before. */
export async function startProgram(program: string, args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('readable', resolve)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${program} ${args.join(' ')} ended with ${code}`)))
  })
  return child
}

export type Outside = {
  /** This machine's address on the connection. Packets from Docks have it as their source, because of NAT. */
  hostAddress: string
  /** Starts a program in the namespace. Resolves when it has written something. */
  start(program: string, ...args: string[]): Promise<ChildProcess>
  /** Kills the programs and removes the namespace. */
  remove(): Promise<void>
}

/** Creates the namespace with routes to its addresses. `number`, 1 to 250, must be unique. Needs root. */
export async function createOutside(number: number, addresses: readonly string[]): Promise<Outside> {
  const namespace = `dock-outside-${number}`
  const [here, there] = [`docko${number}a`, `docko${number}b`]
  // From the range for benchmarks (RFC 2544), in which no host agent on this machine chooses its Docks' subnet.
  const cable = `198.18.${number}`
  const children: ChildProcess[] = []
  const remove = async (): Promise<void> => {
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
    for (const child of children.splice(0)) child.kill()
    await Promise.all(ended)
    await exec('ip', ['link', 'delete', here]).catch(() => undefined)
    await exec('ip', ['netns', 'delete', namespace]).catch(() => undefined)
  }
  await remove()
  const inside = (...args: string[]) => exec('ip', ['-n', namespace, ...args])
  await exec('ip', ['netns', 'add', namespace])
  await exec('ip', ['link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', namespace])
  await exec('ip', ['address', 'add', `${cable}.1/30`, 'dev', here])
  await exec('ip', ['address', 'add', `fd53:${number}::1/64`, 'dev', here, 'nodad'])
  await exec('ip', ['link', 'set', here, 'up'])
  await inside('address', 'add', `${cable}.2/30`, 'dev', there)
  await inside('address', 'add', `fd53:${number}::2/64`, 'dev', there, 'nodad')
  for (const device of [there, 'lo']) await inside('link', 'set', device, 'up')
  await inside('route', 'add', 'default', 'via', `${cable}.1`)
  await inside('-6', 'route', 'add', 'default', 'via', `fd53:${number}::1`)
  for (const address of addresses) {
    await inside('address', 'add', address, 'dev', 'lo')
    const router = address.includes(':') ? `fd53:${number}::2` : `${cable}.2`
    await exec('ip', ['route', 'replace', address, 'via', router, 'dev', here])
  }
  return {
    hostAddress: `${cable}.1`,
    start: async (program, ...args) => {
      const child = await startProgram('nsenter', [`--net=/run/netns/${namespace}`, program, ...args])
      children.push(child)
      return child
    },
    remove,
  }
}
