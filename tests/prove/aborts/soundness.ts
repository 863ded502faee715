/** What must hold after the fuzz: the same processes, quiet logs, and everything works. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { processOf } from '../../crash/processes.ts'
import { run } from '../../e2e/support/dock.ts'
import { openScreen } from '../../e2e/support/terminal.ts'
import { exchange } from './exchange.ts'
import { createRandom } from './random.ts'
import { readDigest, type World } from './world.ts'

export type Processes = Record<'control plane' | 'agent' | 'keeper', number | null>

const keeperOf = async (dataDir: string): Promise<number | null> => {
  for (const pid of await readdir('/proc')) {
    const line = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : ''
    if (line.includes('process-keeper') && line.includes(dataDir)) return Number(pid)
  }
  return null
}

export async function processesOf({ server, port }: Pick<World, 'server' | 'port'>): Promise<Processes> {
  const { dataDir } = server
  const place = { dataDir, port }
  return {
    'control plane': await processOf('control-plane', place),
    agent: await processOf('agent', place),
    keeper: await keeperOf(dataDir),
  }
}

const errorLevel = 50
const forbidden = /uncaught|unhandled|ERR_INVALID_STATE/i
/** A line of a stack that no logger wrote. */
const bareStack = /^\s+at .+[:(]/m

export type ErrorKind = { example: string; times: number; isLogged: boolean }

export type Logs = {
  /** Returns what the logs report as errors since the start: each kind once, with how often it came. */
  errors(): Promise<ErrorKind[]>
}

type Line = { level?: number; msg?: string; code?: string; err?: { message?: string; stack?: string } }
const parse = (text: string): Line => {
  try {
    return JSON.parse(text) as Line
  } catch {
    return {}
  }
}

/** Splits a log: each line of JSON by itself, and what lies between two of them together. */
const partsOf = (text: string): string[] => text.split(/\n(?=\{"level")|(?<=^\{"level".*)\n/m)

/** Returns a key that is the same for errors of one kind, or null if the part reports none. */
const kindOf = (part: string): string | null => {
  const { level = 0, msg, code, err } = part.startsWith('{') ? parse(part) : {}
  if (level >= errorLevel) return `${msg} ${code} ${err?.message} ${err?.stack?.split('\n')[1]}`
  return forbidden.test(part) || bareStack.test(part) ? part.slice(0, 300) : null
}

/** Remembers where the logs end now. */
export async function watchLogs(dataDir: string): Promise<Logs> {
  const read = async (): Promise<Map<string, string>> => {
    const folder = join(dataDir, 'logs')
    const files = [...(await readdir(folder)).map((name) => join(folder, name)), `${dataDir}.log`]
    return new Map(
      await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
    )
  }
  const before = await read()
  return {
    errors: async () => {
      const kinds = new Map<string, ErrorKind>()
      for (const [file, text] of await read())
        for (const part of partsOf(text.slice(before.get(file)?.length ?? 0))) {
          const kind = kindOf(part)
          if (kind === null) continue
          const known = kinds.get(kind) ?? {
            example: `${basename(file)}: ${part}`,
            times: 0,
            isLogged: part.startsWith('{'),
          }
          known.times += 1
          kinds.set(kind, known)
        }
      // What no logger wrote comes first: it may have ended a process.
      return [...kinds.values()].toSorted((a, b) => Number(a.isLogged) - Number(b.isLogged))
    },
  }
}

const withinMs = 60_000
const holds = (what: string, work: Promise<boolean>): Promise<[string, boolean, string]> => {
  const late = new Promise<never>((_, reject) => setTimeout(reject, withinMs, new Error('too late')).unref())
  return Promise.race([work, late]).then(
    (works) => [what, works, ''],
    (error: unknown) => [what, false, String(error)],
  )
}

const terminalWorks = async (world: World): Promise<boolean> => {
  const screen = await openScreen(world.server, world.machines[0]!.id)
  screen.type('echo still-$((40+2)); exit\r')
  await screen.until((lines) => lines.some((line) => line.includes('still-42')), 'the sum')
  return (await screen.closed).code === 1000
}

const portWorks = async (world: World): Promise<boolean> => {
  const ending = {
    name: 'finish',
    isHead: false,
    cut: null,
    readMax: Infinity,
    pauseMs: 0,
    isDoubled: false,
    last: 'finish',
  } as const
  const request = { method: 'GET', path: '/bytes/20000000', host: world.machines[0]!.portHost }
  const { status, bytes } = await exchange(world.port, request, ending, createRandom(1))
  return status === 200 && bytes > 20_000_000
}

/** Tries everything once. Returns what was tried, whether it works, and why not. */
export async function tryEverything(world: World): Promise<[string, boolean, string][]> {
  const { server, machines, snapshots, ssh } = world
  const { id } = machines[0]!
  const health = await holds(
    'health answers',
    fetch(`${server.admin.baseUrl}/health`).then(({ ok }) => ok),
  )
  return [
    health,
    await holds(
      'a command runs',
      run(server, id, 'echo works').then((text) => text === 'works\n'),
    ),
    await holds('a terminal works', terminalWorks(world)),
    await holds(
      'a file of the Snapshot is exact',
      readDigest(world).then((digest) => digest === snapshots.digest),
    ),
    await holds('a hosted port works', portWorks(world)),
    ...(ssh
      ? [
          await holds(
            'SSH works',
            ssh.client.ssh(id, 'echo works').then(({ stdout }) => stdout === 'works\n'),
          ),
        ]
      : []),
  ]
}
