/** The command line as a program, with nothing of the environment of the tests. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { runFolder } from '@dock/testkit/src/run-folder.ts'
import { bundleCli } from '../../../apps/cli/build/build-cli.ts'
import type { Admin } from './server.ts'

const run = promisify(execFile)

export type CliOutcome = { code: number | null; stdout: string; stderr: string }

export type Cli = {
  folder: string
  program: string
  env: Record<string, string>
  /** Runs `dock …` with an empty input, or with this one. */
  run(args: readonly string[], options?: CliOptions): Promise<CliOutcome>
  /** Runs it with --json and returns what it prints. Throws if it fails. */
  json<T>(...args: string[]): Promise<T>
  start(args: readonly string[], options?: CliOptions): ChildProcessWithoutNullStreams
  /** Runs a line of bash in which `dock` is the command line. */
  bash(line: string): Promise<CliOutcome>
  remove(): Promise<void>
}
export type CliOptions = { input?: string; cwd?: string; env?: Record<string, string> }

const outcomeOf = (child: ChildProcessWithoutNullStreams, input: string): Promise<CliOutcome> =>
  new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })

let bundled: Promise<string> | undefined

const bundle = async (): Promise<string> => {
  const folder = await mkdtemp(join(runFolder(), 'dock-bundle-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await bundleCli(join(folder, 'dock'))
  return folder
}

/** Puts the command line at `program`, a path that ends with `dock`. A process builds it once. */
export async function installCli(program: string): Promise<void> {
  bundled ??= bundle()
  await cp(await bundled, dirname(program), { recursive: true })
}

/** Installs the command line. Its home is an empty folder, and the service and the key come from the environment. */
export async function createCli({ baseUrl, apiKey }: Pick<Admin, 'baseUrl' | 'apiKey'>): Promise<Cli> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-cli-'))
  const program = join(folder, 'bin/dock')
  await installCli(program)
  await run('mkdir', ['-p', join(folder, 'home/.ssh'), join(folder, 'work')])
  const env = {
    ...{ PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: join(folder, 'home'), LANG: 'C.UTF-8' },
    ...{ DOCK_URL: baseUrl, DOCK_API_KEY: apiKey },
  }
  const start: Cli['start'] = (args, options = {}) =>
    spawn(process.execPath, [program, ...args], {
      cwd: options.cwd ?? join(folder, 'work'),
      env: { ...env, ...options.env },
    })
  const cli: Cli = {
    ...{ folder, program, env, start },
    run: (args, options = {}) => outcomeOf(start(args, options), options.input ?? ''),
    json: async (...args) => {
      const { code, stdout, stderr } = await cli.run([...args, '--json'])
      if (code !== 0) throw new Error(`dock ${args.join(' ')}: exit ${code}: ${stderr}`)
      return JSON.parse(stdout)
    },
    bash: (line) => outcomeOf(spawn('bash', ['-c', line], { cwd: join(folder, 'work'), env }), ''),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
  return cli
}
