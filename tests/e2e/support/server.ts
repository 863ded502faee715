/** Starts Dock like a person, with `script/server`, on its own data folder and port. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@dock/sdk'

const thisCheckout = new URL('../../..', import.meta.url).pathname

export type Admin = {
  baseUrl: string
  email: string
  password: string
  apiKey: string
  organizationId: string
  workspaceId: string
  image: string
}

export type Client = ReturnType<typeof createClient>

export type Server = {
  dataDir: string
  admin: Admin
  client: Client
  /** File with everything that the server has printed. */
  logFile: string
  /** Returns everything that `script/server` has printed since this start. */
  output: () => string
  /** Process id of the supervisor. */
  pid: number
  /** Sends SIGINT (Ctrl-C) and waits. Returns the exit code. */
  interrupt: () => Promise<number>
  /** Closes the output, like a closed terminal, sends SIGHUP and waits. Returns the exit code. */
  hangUp: () => Promise<number>
  /** Resolves with the exit code when the supervisor has ended for any reason. */
  ended: Promise<number>
}

/**
 * Creates a data folder for a first start. For a host of microVMs it has what the test fixtures hold of them, which would take
 * a minute to download and build.
 */
export async function newDataDir(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dock-e2e-'))
  const { DOCK_RUNTIME: runtime, DOCK_TEST_MICROVM: machines, DOCK_TEST_GUEST_AGENT: agent } = process.env
  if (runtime === 'microvm' && machines && agent) {
    const host = join(dataDir, 'host')
    await mkdir(host, { mode: 0o700 })
    const copy = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true }
    await cp(machines, join(host, 'microvm'), copy)
    for (const end of ['', '.json']) await cp(`${agent}${end}`, join(host, `bin/guest-agent${end}`), copy)
  }
  return dataDir
}

/** Removes a data folder after its server has ended. */
export function removeDataDir(dataDir: string): Promise<void> {
  return rm(dataDir, { recursive: true, force: true })
}

const lastLines = (text: string): string => text.split('\n').slice(-40).join('\n')

/**
 * Uses the image of the test fixtures. Without it, the first start on a data folder spends seconds on finding out whether
 * this machine can build Ubuntu.
 */
const usual = { DEFAULT_IMAGE: 'debian-13' }

/**
 * Starts a server on `dataDir`, of another version of Dock if `checkout` is given. Resolves when it prints that it is ready.
 * Rejects with its output if it ends first.
 */
export async function startServer(
  dataDir: string,
  port: number,
  environment: Record<string, string | undefined> = {},
  checkout = thisCheckout,
): Promise<Server> {
  const child: ChildProcess = spawn(join(checkout, 'script/server'), [], {
    cwd: checkout,
    // The usual SSH port may be taken on this machine. Tests of the gateway choose a free one.
    env: {
      ...{ ...usual, ...process.env, DOCK_SSH_PORT: 'off', ...environment },
      ...{ DOCK_DATA_DIR: dataDir, PORT: String(port) },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  const logFile = `${dataDir}.log`
  const log = createWriteStream(logFile, { flags: 'a' })
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 128)))
  await new Promise<void>((resolve, reject) => {
    const hear = (text: string): void => {
      output += text
      log.write(text)
      if (output.includes('Dock is ready')) resolve()
    }
    child.stdout?.setEncoding('utf8').on('data', hear)
    child.stderr?.setEncoding('utf8').on('data', hear)
    child.once('error', reject)
    void ended.then((code) => reject(new Error(`script/server ended with ${code}:\n${lastLines(output)}`)))
  })
  const admin = JSON.parse(await readFile(join(dataDir, 'admin.json'), 'utf8')) as Admin
  const pid = child.pid ?? 0
  return {
    dataDir,
    logFile,
    admin,
    client: createClient({ baseUrl: admin.baseUrl, apiKey: admin.apiKey, retries: 0 }),
    output: () => output,
    pid,
    ended,
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
