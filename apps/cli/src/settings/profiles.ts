/** The configuration: services and the keys for them. Only its owner can read the file. */
import { randomUUID } from 'node:crypto'
import { chmod, type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { LocalError } from '../program/failures.ts'

export type Profile = {
  url: string
  apiKey: string
  /** The id of the key, to revoke it at logout. */
  keyId?: string
  /** Where new Docks are made. */
  workspaceId?: string
}

export type Configuration = { current?: string; profiles: Record<string, Profile> }

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the folder of the configuration. */
export function configFolder(env: Environment): string {
  const base = env.XDG_CONFIG_HOME
  return join(base?.startsWith('/') ? base : join(env.HOME || homedir(), '.config'), 'dock')
}

export function configFile(env: Environment): string {
  return join(configFolder(env), 'config.json')
}

const isProfile = (value: unknown): value is Profile => {
  const { url, apiKey } = (value ?? {}) as Record<string, unknown>
  return typeof url === 'string' && typeof apiKey === 'string'
}

const parse = (text: string): Configuration | undefined => {
  try {
    const { current, profiles } = JSON.parse(text) as { current?: unknown; profiles?: unknown }
    if (typeof profiles !== 'object' || profiles === null || Array.isArray(profiles)) return undefined
    const entries = Object.entries(profiles)
    if (!entries.every(([, profile]) => isProfile(profile))) return undefined
    const known = { __proto__: null, ...Object.fromEntries(entries) } as unknown as Record<string, Profile>
    return { profiles: known, ...(typeof current === 'string' ? { current } : {}) }
  } catch {
    return undefined
  }
}

/** Throws if somebody else can change the file: they could send your commands and your next key to their service. */
const requireOwn = async (file: string, handle: FileHandle): Promise<void> => {
  const user = process.getuid?.()
  if (user === undefined) return
  const { uid, mode } = await handle.stat()
  if (uid !== user && uid !== 0)
    throw new LocalError('config_unsafe', `${file} belongs to another user, so it is not used. Remove it.`)
  if ((mode & 0o022) !== 0)
    throw new LocalError('config_unsafe', `Others can change ${file}. Look at it, then: chmod 600 ${file}`)
}

/** Reads the configuration. A missing file is an empty one. */
export async function readConfiguration(env: Environment): Promise<Configuration> {
  const file = configFile(env)
  let text: string
  try {
    const handle = await open(file)
    try {
      await requireOwn(file, handle)
      text = await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof LocalError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} }
    throw new LocalError('config_unreadable', `${file} cannot be read: ${(error as Error).message}`)
  }
  const configuration = parse(text)
  if (!configuration)
    throw new LocalError('config_invalid', `${file} is damaged. Correct it, or remove it and sign in again.`)
  return configuration
}

/** Returns true if others than the owner may read the file of keys. */
export async function isReadableByOthers(env: Environment): Promise<boolean> {
  const stats = await stat(configFile(env)).catch(() => undefined)
  return process.getuid !== undefined && stats !== undefined && (stats.mode & 0o077) !== 0
}

/** Replaces a file in one step. Only its owner can read it. */
export async function replacePrivateFile(file: string, text: string | Buffer): Promise<void> {
  // Nobody can guess the name, and `wx` opens nothing that is there already.
  const draft = join(dirname(file), `.dock-${randomUUID()}`)
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Saves the configuration. */
export async function writeConfiguration(env: Environment, configuration: Configuration): Promise<void> {
  const folder = configFolder(env)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  await replacePrivateFile(configFile(env), `${JSON.stringify(configuration, null, 2)}\n`)
}
