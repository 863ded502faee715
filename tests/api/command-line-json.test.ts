/** Every command with `--json`: what it prints parses, and so do its errors, with the exit code of docs/cli.md. */
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { limits } from '@dock/contract'
import { startControlPlaneWithHost } from '@dock/testkit'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commands } from '../../apps/cli/src/commands.ts'
import { ranges } from '../../apps/cli/src/docks/sizes.ts'
import { type Cli, type CliOptions, type CliOutcome, createCli } from '../e2e/support/run-cli.ts'

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let cli: Cli
beforeAll(async () => {
  server = await startControlPlaneWithHost({ environment: { DOCK_SSH_PORT: '2222' } })
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  cli = await createCli({ baseUrl, apiKey: server.admin.apiKey })
  const work = join(cli.folder, 'work')
  await mkdir(join(work, 'folder'))
  for (const file of ['file', 'folder/a']) await writeFile(join(work, file), 'text')
  await cli.bash('ssh-keygen -q -t ed25519 -N "" -f ~/.ssh/id_ed25519')
})
afterAll(async () => {
  await cli?.remove()
  await server?.stop()
})

/** They go on until they are ended, or need a terminal, are not for people, or need a Run at GitHub. */
const without = [
  ...['forward', 'mcp', 'shell', '__complete'],
  ...['run show', 'run logs', 'run stop', 'run promote', 'run start'],
]

type Row = [line: string, options?: CliOptions & { code?: number }]
const plain = (...lines: string[]): Row[] => lines.map((line) => [line])
/** `URL` is the address of the service, `PLACE` a folder of the Dock, `SNAPSHOT` the latest Snapshot, `HOST` the host. */
const rows = (home: CliOptions): readonly Row[] => [
  ['login --key URL', { ...home, input: server.admin.apiKey }],
  ['whoami', home],
  ['logout', home],
  ...plain('create web', 'create other', 'ls', 'show web', 'exec web true', 'exec -d web true'),
  ...plain(
    'cp file web:PLACE/copied',
    'sync folder web:PLACE/folder',
    'ps web',
    'logs web',
    'stats web',
    'ssh --print web',
  ),
  ...plain(
    'config-ssh --print',
    'config-ssh --yes',
    'port expose web 3000',
    'port ls web',
    'open web 3000',
    'port close web 3000',
  ),
  ...plain('branch web copy', 'stop web', 'snapshot ls web', 'snapshot tree SNAPSHOT', 'resume web'),
  ['snapshot cat SNAPSHOT /etc/hostname'],
  ['snapshot get SNAPSHOT /etc/hostname got'],
  ['template create other base'],
  ['template ls'],
  ['image ls'],
  ['template rm base --yes'],
  ['env create one'],
  ['env set one NAME', { input: 'value' }],
  ...plain(
    'env ls',
    'env show one',
    'env unset one NAME --yes',
    'env rm one --yes',
    'org create New',
    'org ls',
  ),
  ...plain(
    'org members',
    'org limits',
    'audit',
    'org invite b@example.test',
    'workspace create w',
    'workspace ls',
  ),
  ...plain(
    'workspace rm w --yes',
    'key create k',
    'key ls',
    'key rm k --yes',
    'ssh-key add --name s',
    'ssh-key ls',
    'ssh-key prove',
  ),
  ...plain(
    'ssh-key rm s --yes',
    'webhook ls',
    'host ls',
    'host show HOST',
    'host test HOST',
    'api /v1/me',
    'completion bash',
  ),
  ['webhook deliveries none', { code: 5 }],
  ...['webhook create', 'webhook test', 'webhook rm'].map((line): Row => [line, { code: 4 }]),
  ['run ls'],
  ['doctor'],
  ['snapshot rm SNAPSHOT --yes'],
  ['rm copy other --yes'],
]

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

it('prints JSON, and errors as JSON', { timeout: 300_000 }, async () => {
  const [host] = (await server.call('GET', '/v1/hosts')).body.data as [{ id: string }]
  const snapshot = async (): Promise<string> =>
    ((await server.call('GET', '/v1/snapshots')).body.data as { snapshots: { id: string }[] }).snapshots[0]
      ?.id ?? ''
  const done = new Set<string>()
  const wrong: object[] = []
  for (const [line, { code: expected = 0, ...options } = {}] of rows({
    env: { HOME: join(cli.folder, 'signed-in'), DOCK_URL: '', DOCK_API_KEY: '' },
  })) {
    const real = line
      .replace('URL', cli.env.DOCK_URL!)
      .replace('HOST', host.id)
      .replace('PLACE', fakeProcessFolder())
      .replace('SNAPSHOT', await snapshot())
    const { code, stdout, stderr } = await cli.run(['--json', ...real.split(' ')], options)
    // An error is on stderr. A page of the dashboard to open instead is a result.
    if (code !== expected || !isJson(stderr || stdout) || (expected === 0 && stderr !== ''))
      wrong.push({ line, code, stdout, stderr })
    const command = commands.find(({ path }) => `${line} `.startsWith(`${path.join(' ')} `))
    done.add(command?.path.join(' ') ?? line)
  }
  expect(wrong).toEqual([])
  expect([...done].toSorted()).toEqual(
    commands
      .map(({ path }) => path.join(' '))
      .filter((path) => !without.includes(path))
      .toSorted(),
  )
})

it('refuses the sizes and times that the contract refuses', () => {
  const known = {
    ...{ cpus: limits.cpus, memoryMiB: limits.memoryMiB, diskGiB: limits.diskGiB },
    ...{ ttlSeconds: limits.ttlSeconds, timeoutSeconds: limits.processes.timeoutSeconds },
  }
  for (const [name, { min, max }] of Object.entries(ranges))
    expect(known[name as keyof typeof known], name).toMatchObject({ min, max })
})

/**
 * Runs the same program in a thread, which starts faster than a process. Only for lines that it refuses before it looks at
 * the terminal, a file or the service.
 */
const runInThread = async (words: readonly string[]): Promise<CliOutcome> => {
  const options = { argv: [...words], env: cli.env, execArgv: [], stdin: true, stdout: true, stderr: true }
  const worker = new Worker(cli.program, options)
  const exit = once(worker, 'exit')
  const [[code], stdout, stderr] = await Promise.all([exit, text(worker.stdout), text(worker.stderr)])
  return { code, stdout, stderr }
}

it('reports errors of every command as JSON', { timeout: 300_000 }, async () => {
  const wrong: [string, number][] = [
    ...commands
      .filter(({ isHidden, takesCommand }) => !isHidden && !takesCommand)
      .map(({ path }): [string, number] => [`${path.join(' ')} --nonsense`, 2]),
    ...[
      'show none',
      'cp none:a b',
      'snapshot cat none /a',
      'env show none',
      'key rm none',
      'org members none',
    ].map((line): [string, number] => [line, 5]),
    ...['rm none', 'host show none', 'api /v1/none', 'exec none true'].map((line): [string, number] => [
      line,
      5,
    ]),
    ...['nonsense', 'port web 3000', 'create --memory x'].map((line): [string, number] => [line, 2]),
    ...['create --memory 999G', 'exec --timeout 0s web -- true', 'exec --timeout 99999d web -- true'].map(
      (line): [string, number] => [line, 2],
    ),
    ...['--bogus', 'forward web 80:90:100', `workspace create ${'w'.repeat(300)}`].map(
      (line): [string, number] => [line, 2],
    ),
  ]
  const ended = await Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      const own: [string, number, number | null, string][] = []
      for (const [line, expected] of wrong.filter((__, at) => at % 4 === lane)) {
        const run = line.endsWith(' --nonsense') ? runInThread : cli.run
        const { code, stderr, stdout } = await run(['--json', ...line.split(' ')])
        own.push([line, expected, code, stderr || stdout])
      }
      return own
    }),
  )
  for (const [line, expected, code, said] of ended.flat()) {
    expect([line, code]).toEqual([line, expected])
    expect([line, isJson(said)]).toEqual([line, true])
  }
})
