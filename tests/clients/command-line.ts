/** The scenario with the command line, as a script of a shell would do it. */
import { execFile, spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleCli } from '../../apps/cli/build/build-cli.ts'
import type { ScenarioRun } from './program.ts'
import type { Scenario } from './typescript.ts'

type Outcome = { exitCode: number; stdout: string; stderr: string }
type Dock = {
  run(...args: string[]): Promise<Outcome>
  text(...args: string[]): Promise<string>
  json<T>(...args: string[]): Promise<T>
  /** Calls `onLine` for each line that it prints. */
  lines(args: string[], onLine: (line: string) => Promise<boolean>): Promise<void>
}

const dockOf = (program: string, { baseUrl, apiKey, home }: ScenarioRun): Dock => {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    DOCK_URL: baseUrl,
    DOCK_API_KEY: apiKey,
  }
  const run = (...args: string[]): Promise<Outcome> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
        resolve({ exitCode: Number(error?.code ?? 0), stdout, stderr }),
      )
      child.stdin?.end()
    })
  const text = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(...args)
    if (exitCode !== 0) throw new Error(`dock ${args.join(' ')}: exit ${exitCode}: ${stderr}`)
    return stdout
  }
  return {
    ...{ run, text },
    json: async (...args) => JSON.parse(await text('--json', ...args)),
    lines: async (args, onLine) => {
      const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'ignore'] })
      for await (const line of createInterface({ input: child.stdout })) if (!(await onLine(line))) break
      child.kill()
    },
  }
}

const streamed = async (dock: Dock, name: string, command: string): Promise<string[]> => {
  const lines: string[] = []
  await dock.lines(['exec', name, command], async (line) => {
    lines.push(line)
    const number = /^line (\d+)$/.exec(line)?.[1]
    if (number !== undefined) await dock.text('exec', name, `touch go-${number}`)
    return true
  })
  return lines
}

const inBackground = async (dock: Dock, name: string, command: string) => {
  const id = (await dock.text('exec', '-d', name, command)).trim()
  let before = ''
  await dock.lines(['logs', '-f', name, id], async (line) => {
    before = `${line}\n`
    return false
  })
  await dock.text('exec', name, 'touch continue')
  const after = await dock.text('logs', '-f', '--offset', String(Buffer.byteLength(before)), name, id)
  const processes = await dock.json<{ id: string; exitCode: number }[]>('ps', name)
  return { before, after, exitCode: processes.find((each) => each.id === id)?.exitCode }
}

const branched = async (dock: Dock, name: string, command: string) => {
  const copy = `${name}-copy`
  await dock.text('branch', name, copy)
  await dock.text('exec', copy, command)
  const read = (each: string): Promise<string> => dock.text('cp', `${each}:project/words.txt`, '-')
  const result = { copy: await read(copy), original: await read(name) }
  await dock.text('rm', copy, '--yes')
  return result
}

const textsBelow = async (folder: string): Promise<Record<string, string>> => {
  const texts: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile()) texts[relative(folder, file)] = await readFile(file, 'utf8')
  }
  return texts
}

/** Does the scenario. */
export async function commandLine(scenarioRun: ScenarioRun): Promise<unknown> {
  const { name, upload, download, home } = scenarioRun
  const scenario = JSON.parse(await readFile(scenarioRun.scenario, 'utf8')) as Scenario
  const program = join(home, 'dock.mjs')
  await bundleCli(program)
  const dock = dockOf(program, scenarioRun)
  const { cpus, memoryMiB, diskGiB } = scenario.dock
  const sizes = ['--cpus', `${cpus}`, '--memory', `${memoryMiB}M`, '--disk', `${diskGiB}G`]
  const { state } = await dock.json<{ state: string }>('create', name, ...sizes)
  await dock.text('cp', `${upload}/`, `${name}:${scenario.folder}`)
  const run = await dock.run('exec', name, scenario.run)
  const stream = await streamed(dock, name, scenario.stream)
  const background = await inBackground(dock, name, scenario.background)
  const branch = await branched(dock, name, scenario.branch)
  await dock.text('stop', name)
  const snapshotFile = await dock.text('snapshot', 'cat', name, scenario.snapshotFile)
  await dock.text('resume', name)
  await dock.text('cp', `${name}:${scenario.download}/`, download)
  await dock.text('rm', name, '--yes')
  const left = await dock.json<{ name: string }[]>('ls')
  return {
    ...{ ready: ['ready', 'idle', 'running'].includes(state), run, stream, background, branch, snapshotFile },
    download: await textsBelow(download),
    isDeleted: !left.some((each) => each.name === name),
  }
}
