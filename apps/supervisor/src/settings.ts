/** The settings of the supervisor itself. All other settings are passed on to the processes it starts. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

export type Settings = {
  /** The data folder. */
  dataDir: string
  /** The control plane's part of the data folder. */
  controlDir: string
  /** The host agent's part of the data folder, accessible to root only. */
  hostDir: string
  /** The short folder under /run that contains the view of control plane and PostgreSQL. */
  viewDir: string
  /** Path of the control plane's socket for root. */
  rootSocket: string
  checkout: string
  /** Folder of the bundled programs. */
  compiledDir: string
  bind: string
  port: number
  /** The SSH gateway. `isChosen`: the operator has named the port, so it must be free. Null: it is off. */
  ssh: { port: number; isChosen: boolean } | null
  embeddedHost: boolean
  databaseUrl: string | undefined
  /** The text of the operator's plans. Undefined: there is no file. */
  plans: string | undefined
  /** Environment of this process, completed with the data folder's config.env. */
  environment: NodeJS.ProcessEnv
}

/** Parses KEY=value lines. Skips empty lines and lines that begin with #. */
export function parseConfiguration(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const match = /^\s*([A-Z_][A-Z0-9_]*)=(.*)$/.exec(line)
    if (match) values[match[1]!] = match[2]!.trim()
  }
  return values
}

const readPort = (name: string, text: string, more = ''): number => {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`${name} must be a number from 1 to 65535${more}, not '${text}'.`)
  return port
}

const usualSshPort = '2222'

const readSsh = (text: string | undefined): Settings['ssh'] =>
  text === 'off'
    ? null
    : { port: readPort('DOCK_SSH_PORT', text ?? usualSshPort, ', or off'), isChosen: text !== undefined }

/** More would not fit into one variable of the control plane's environment. */
const plansBytesMax = 100_000

/** Reads the operator's plans. The control plane cannot: it sees only its own part of the data folder. */
const readPlans = async (dataDir: string, named: string | undefined): Promise<string | undefined> => {
  const path = named ?? join(dataDir, 'plans.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (named === undefined && error.code === 'ENOENT') return undefined
    throw new Error(`DOCK_PLANS_FILE: cannot read ${path}: ${error.message}`)
  })
  if (text !== undefined && Buffer.byteLength(text) > plansBytesMax)
    throw new Error(`DOCK_PLANS_FILE: ${path} is larger than ${plansBytesMax} bytes.`)
  return text
}

/** Reads config.env in the data folder and the environment, which overrides it. Throws an error that says what to correct. */
export async function readSettings(environment: NodeJS.ProcessEnv, checkout: string): Promise<Settings> {
  const dataDir = resolve(environment['DOCK_DATA_DIR'] ?? join(checkout, '.dock'))
  const stored = await readFile(join(dataDir, 'config.env'), 'utf8').catch(() => '')
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 8)
  const all: NodeJS.ProcessEnv = { ...parseConfiguration(stored), ...given }
  return {
    dataDir,
    controlDir: join(dataDir, 'control'),
    hostDir: join(dataDir, 'host'),
    viewDir: `/run/dock-${digest}`,
    // Short enough for a socket path, and the same in every mount namespace.
    rootSocket: `/run/dock-${digest}-root/control.sock`,
    checkout,
    compiledDir: environment['DOCK_COMPILED'] ?? join(checkout, '.tools/compiled'),
    bind: all['DOCK_BIND'] ?? '127.0.0.1',
    port: readPort('PORT', all['PORT'] ?? '8080'),
    ssh: readSsh(all['DOCK_SSH_PORT']),
    embeddedHost: all['DOCK_EMBEDDED_HOST'] !== 'off',
    databaseUrl: all['DATABASE_URL'],
    plans: await readPlans(dataDir, all['DOCK_PLANS_FILE']),
    environment: all,
  }
}
