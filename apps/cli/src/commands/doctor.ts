import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import type { Client, HostSummary } from '@dock/sdk'
import { runtimeOf } from '../docks/runtime-of.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { exitCodes } from '../program/exit-codes.ts'
import { isPlainToAnotherMachine } from '../settings/connection.ts'
import { readDockFile } from '../settings/dock-file.ts'
import { isReadableByOthers } from '../settings/profiles.ts'
import { readSshTarget } from '../ssh/ssh-target.ts'
import { version } from '../version.ts'
import { formatHostTest } from './hosts.ts'

const run = promisify(execFile)

type Check = { name: string; state: 'good' | 'remark' | 'bad'; detail: string }

const programVersion = async (program: string, flag: string): Promise<string> => {
  const { stdout, stderr } = await run(program, [flag], { timeout: 5000 })
  return (stdout || stderr).split('\n')[0] ?? ''
}

const tried = async (
  name: string,
  work: () => Promise<string>,
  otherwise: Check['state'] = 'bad',
): Promise<Check> => {
  try {
    return { name, state: 'good', detail: await work() }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { name, state: otherwise, detail: isMissing ? 'missing' : (error as Error).message }
  }
}

const reach = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: 5000 })
    socket.once('connect', () => socket.destroy() && resolve(`${host}, port ${port}`))
    socket.once('timeout', () => socket.destroy() && reject(new Error(`${host}, port ${port}: no response`)))
    socket.once('error', (error) => reject(new Error(`${host}, port ${port}: ${error.message}`)))
  })

/** Returns which runtime a host has and how old it is, and how fast a machine boots there. */
const hostChecks = async (client: Client, { id, address, runtime, state }: HostSummary): Promise<Check[]> => {
  const { runtimeRelease, isEmulated } = await client.call('readHostVersions', { params: { id } })
  const release = runtimeOf(runtime, runtimeRelease)
  const place = address || id
  const remarks = [
    ...(runtimeRelease?.isOld ? ['it lacks the fixes made since (docs/operate/upgrade-runsc.md)'] : []),
    ...(isEmulated ? ['its microVMs are emulated, which is for tests only (docs/operate/microvm.md)'] : []),
  ]
  return [
    {
      name: `runtime of ${place}`,
      state: remarks.length > 0 ? 'remark' : 'good',
      detail: [release, ...remarks].join(': '),
    },
    await tried(
      `host ${place}`,
      async () => {
        if (state !== 'online') throw new Error(state)
        return formatHostTest(await client.call('testHost', { params: { id } }))
      },
      'remark',
    ),
  ]
}

/** Only admins of the instance see hosts. */
const allHostChecks = async (client: Client): Promise<Check[]> => {
  const { instanceAdmin } = await client.call('readMe')
  if (!instanceAdmin) return []
  const hosts = await client.call('listHosts')
  return (await Promise.all(hosts.map((host) => hostChecks(client, host)))).flat()
}

const serviceChecks = async (context: Context): Promise<Check[]> => {
  const found = await tried('service', async () => (await context.connection()).url)
  if (found.state !== 'good') return [found]
  const client = await context.client()
  const began = performance.now()
  const config = await tried('connection', async () => {
    await client.call('readConfig')
    return `${Math.round(performance.now() - began)} ms`
  })
  if (config.state !== 'good') return [found, config]
  return [
    isPlainToAnotherMachine(client.baseUrl)
      ? { ...found, state: 'remark', detail: `${found.detail} is not encrypted` }
      : found,
    config,
    await tried('key', async () => (await client.call('readMe')).email),
    await tried(
      'SSH gateway',
      async () => {
        const { host, port } = await readSshTarget(client)
        return reach(host, port)
      },
      'remark',
    ),
    await tried(
      'SSH keys',
      async () => {
        const proofs = await client.call('listSshKeyProofs')
        if (proofs.length === 0) throw new Error('none; add one: dock ssh-key add')
        const proved = proofs.filter(({ provedAt }) => provedAt !== null).length
        if (proved === 0) throw new Error(`${proofs.length}, none is proved: dock ssh-key prove`)
        return `${proofs.length}, ${proved} proved`
      },
      'remark',
    ),
    ...(await allHostChecks(client).catch((error: Error): Check[] => [
      { name: 'hosts', state: 'bad', detail: error.message },
    ])),
  ]
}

/** Looks for what could be wrong. */
export const doctor: Command = {
  path: ['doctor'],
  summary: 'Check the configuration, the service and the programs that dock uses',
  async run(context) {
    const checks: Check[] = [
      { name: 'dock', state: 'good', detail: `${version}, Node ${process.versions.node}` },
      await tried('configuration', async () => {
        if (await isReadableByOthers(context.env))
          throw new Error('others can read it: chmod 600 config.json')
        return 'only you can read it'
      }),
      ...(await context.out.wait('Checking', serviceChecks(context))),
      await tried('.dock', async () => (await readDockFile(context.cwd)) ?? 'none in this folder'),
      await tried('ssh', () => programVersion('ssh', '-V'), 'remark'),
      await tried('rsync', () => programVersion('rsync', '--version'), 'remark'),
    ]
    context.out.list(
      checks,
      {
        CHECK: ({ name }) => name,
        STATE: ({ state }) => state,
        DETAIL: ({ detail }) => detail,
      },
      {
        needed: [0, 1, 2],
        colours: (text, column) =>
          column === 1 ? ({ good: 'green', remark: 'yellow', bad: 'red' } as const)[text] : undefined,
      },
    )
    return checks.some(({ state }) => state === 'bad') ? exitCodes.error : exitCodes.ok
  },
}
