/** A simulated second machine: a network namespace connected to this machine, in which script/host runs. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const checkout = new URL('../../..', import.meta.url).pathname

export type Machine = {
  /** This machine's address, seen from the second machine. */
  address: string
  /** Runs script/host on the machine. Resolves when it prints that it has joined. */
  joinAsHost(
    dataDir: string,
    url: string,
    token?: string,
    environment?: Readonly<Record<string, string>>,
  ): Promise<RunningHost>
  /** Disconnects or reconnects the network. Processes and Docks on the machine keep running. */
  connect(plugged: boolean): Promise<void>
  remove(): Promise<void>
}

export type RunningHost = {
  pid: number
  /** Resolves when script/host has ended, with its exit code and output. */
  ended: Promise<{ code: number; output: string }>
  /** Sends SIGINT (Ctrl-C) and waits. Returns the exit code. */
  interrupt(): Promise<number>
  /** Closes the output, like a closed terminal, sends SIGHUP and waits. Returns the exit code. */
  hangUp(): Promise<number>
}

/** Creates the machine. `number`, 1 to 60, must be unique. */
export async function createMachine(number: number): Promise<Machine> {
  const name = `dock-machine-${number}`
  const [here, there] = [`dockm${number}a`, `dockm${number}b`]
  // From the range for benchmarks (RFC 2544), in which no host agent on this machine chooses its Docks' subnet.
  const network = `198.19.${number}`
  const remove = async (): Promise<void> => {
    await run('ip', ['link', 'delete', here]).catch(() => undefined)
    await run('ip', ['netns', 'delete', name]).catch(() => undefined)
  }
  await remove()
  await run('ip', ['netns', 'add', name])
  await run('ip', ['link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name])
  await run('ip', ['address', 'add', `${network}.1/30`, 'dev', here])
  await run('ip', ['link', 'set', here, 'up'])
  await run('ip', ['-n', name, 'address', 'add', `${network}.2/30`, 'dev', there])
  for (const device of [there, 'lo']) await run('ip', ['-n', name, 'link', 'set', device, 'up'])

  const joinAsHost: Machine['joinAsHost'] = async (dataDir, url, token, environment) => {
    const child: ChildProcess = spawn(
      'nsenter',
      [`--net=/run/netns/${name}`, '--', join(checkout, 'script/host'), url],
      {
        cwd: checkout,
        env: {
          ...process.env,
          DOCK_PLAIN_HTTP: 'on',
          DOCK_DATA_DIR: dataDir,
          ...environment,
          ...(token ? { DOCK_JOIN_TOKEN: token } : {}),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    )
    let output = ''
    const log = createWriteStream(`${dataDir}.log`, { flags: 'a' })
    const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 128)))
    await new Promise<void>((resolve, reject) => {
      const hear = (text: string): void => {
        output += text
        log.write(text)
        if (output.includes('This machine is a host of')) resolve()
      }
      child.stdout?.setEncoding('utf8').on('data', hear)
      child.stderr?.setEncoding('utf8').on('data', hear)
      child.once('error', reject)
      void ended.then((code) => reject(new Error(`script/host ended with ${code}:\n${output}`)))
    })
    const pid = child.pid!
    return {
      pid,
      ended: ended.then((code) => ({ code, output })),
      interrupt: () => {
        process.kill(pid, 'SIGINT')
        return ended
      },
      hangUp: () => {
        child.stdout?.destroy()
        child.stderr?.destroy()
        process.kill(pid, 'SIGHUP')
        return ended
      },
    }
  }
  const connect = async (plugged: boolean): Promise<void> => {
    await run('ip', ['link', 'set', here, plugged ? 'up' : 'down'])
  }
  return { address: `${network}.1`, joinAsHost, connect, remove }
}

/** Returns the pid of the agent that uses this data folder. */
export async function agentOf(dataDir: string): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const read = (name: string) => readFile(`/proc/${entry}/${name}`, 'utf8').catch(() => '')
    if (!(await read('cmdline')).includes('/host-agent.mjs')) continue
    if ((await read('environ')).includes(`DOCK_HOST_DIR=${dataDir}/`)) return Number(entry)
  }
  throw new Error(`no agent on ${dataDir}`)
}

/** Issues a join token with script/admin host-token. */
export async function joinToken(serverDataDir: string): Promise<string> {
  const { stdout } = await run(join(checkout, 'script/admin'), ['host-token'], {
    env: { ...process.env, DOCK_DATA_DIR: serverDataDir },
  })
  return stdout.trim()
}
