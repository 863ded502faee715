/** Tries things in a Dock of a server of its own, on either runtime. */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { print } from '../../../bench/parts/bench-server.ts'
import { exec } from '../../e2e/support/dock.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../../e2e/support/server.ts'
import type { Thing } from './thing.ts'

export const runtimes = ['gvisor', 'microvm'] as const
export type Runtime = (typeof runtimes)[number]

/** Emulated machines are slow. */
const thingSeconds = { gvisor: 120, microvm: 420 } as const
const settings = {
  gvisor: { DOCK_RUNTIME: 'gvisor' },
  microvm: { DOCK_RUNTIME: 'microvm', DOCK_MICROVM_TCG: 'allow' },
} as const
const reasonLengthMax = 300

export type Trial = {
  runtime: Runtime
  /** Name of the image that is made for it. */
  image: string
  packages: readonly string[]
  things: readonly Thing[]
}

/** `missing`: a program that it needs is not in the image. */
export type Outcome = 'works' | 'fails' | 'missing'

/** Returns what each thing came to, by name, and prints it as it comes. */
export async function tryThings({ runtime, image, packages, things }: Trial): Promise<Map<string, Outcome>> {
  const dataDir = await newDataDir()
  await mkdir(join(dataDir, 'images', image), { recursive: true })
  await writeFile(join(dataDir, 'images', image, 'from'), 'debian-13\n')
  await writeFile(join(dataDir, 'images', image, 'packages'), `${packages.join(' ')}\n`)
  // What the fixtures of tests hold need not be downloaded again.
  const installed = process.env.DOCK_TEST_MICROVM
  if (runtime === 'microvm' && installed)
    await cp(installed, join(dataDir, 'host/microvm'), { recursive: true, verbatimSymlinks: true })
  const server = await startServer(dataDir, await freePort(), {
    ...{ ...settings[runtime], DEFAULT_IMAGE: image, DOCK_WARM_POOL: '0' },
  })
  const outcomes = new Map<string, Outcome>()
  try {
    for (const thing of things) outcomes.set(thing.name, await tryThing(server, runtime, thing))
  } finally {
    await server.interrupt()
    await removeDataDir(dataDir)
  }
  return outcomes
}

const docks = new WeakMap<Server, string>()

/** Returns the Dock of the things before, or a new one if it does not run any more. */
const runningDock = async (server: Server): Promise<string> => {
  const { client, admin } = server
  const before = docks.get(server)
  if (before && (await client.call('readDock', { params: { id: before } })).state === 'ready') return before
  const { id } = await client.call('createDock', {
    body: { workspaceId: admin.workspaceId, cpus: 1, memoryMiB: 2048, diskGiB: 10 },
  })
  docks.set(server, id)
  return id
}

const tryThing = async (
  server: Server,
  runtime: Runtime,
  { name, script, needs = [] }: Thing,
): Promise<Outcome> => {
  const begun = performance.now()
  const id = await runningDock(server)
  const tell = (outcome: string, said = ''): void => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    print(
      `${outcome.padEnd(8)} ${runtime} ${name} (${seconds} s)${said && `\n    ${said.trim().replaceAll('\n', '\n    ')}`}`,
    )
  }
  try {
    const { exitCode } =
      needs.length === 0
        ? { exitCode: 0 }
        : await exec(server, id, needs.map((program) => `command -v ${program}`).join(' && '))
    if (exitCode !== 0) {
      tell('missing')
      return 'missing'
    }
    const command = `cd "$(mktemp -d)" || exit\n${script}`
    const result = await exec(server, id, command, { timeoutSeconds: thingSeconds[runtime] })
    if (result.exitCode === 0) {
      tell('works')
      return 'works'
    }
    const said = `${result.stdout}${result.stderr}`.slice(-reasonLengthMax)
    tell('fails', `exit code ${result.exitCode}\n${said}`)
  } catch (error) {
    tell('fails', String(error))
  }
  return 'fails'
}
