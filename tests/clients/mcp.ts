/** The scenario with the tools of the MCP server, which have no local files. */
import { readFile } from 'node:fs/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Runner, ScenarioRun } from './program.ts'
import type { Scenario } from './typescript.ts'

const checkout = new URL('../../', import.meta.url).pathname
const patience = { timeout: 110_000 }

/** Connects a client of the official SDK to the command `dock mcp`, by default of the sources. */
export async function connectStdio(
  { baseUrl, apiKey, home }: Pick<ScenarioRun, 'baseUrl' | 'apiKey' | 'home'>,
  program = `${checkout}apps/cli/src/main.ts`,
): Promise<Client> {
  const client = new Client({ name: 'scenario', version: '1' })
  const env = { PATH: process.env.PATH ?? '', HOME: home, DOCK_URL: baseUrl, DOCK_API_KEY: apiKey }
  const args = [program, 'mcp']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'inherit' }))
  return client
}

/** Connects a client of the official SDK to `/mcp`. */
export async function connectHttp({
  baseUrl,
  apiKey,
}: Pick<ScenarioRun, 'baseUrl' | 'apiKey'>): Promise<Client> {
  const client = new Client({ name: 'scenario', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit }))
  return client
}

export type ToolAnswer = { isError: boolean; facts: string; data: string[] }

/** Calls a tool. */
export async function callTool(client: Client, name: string, args: object = {}): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: { ...args } }, patience)
  const texts = (result.content as { type: string; text: string }[]).map(({ text }) => text)
  return { isError: result.isError === true, facts: texts[0] ?? '', data: texts.slice(1) }
}

const found = (text: string, pattern: RegExp): string => {
  const value = pattern.exec(text)?.[1]
  if (value === undefined) throw new Error(`${pattern} does not match: ${text}`)
  return value
}

/** Calls tools, and throws what they refuse. */
const toolsOf =
  (client: Client) =>
  async (name: string, args: object = {}): Promise<ToolAnswer> => {
    const answer = await callTool(client, name, args)
    if (answer.isError) throw new Error(`${name}: ${answer.facts}`)
    return answer
  }

type Tools = ReturnType<typeof toolsOf>

type PlaceOfProcess = { dock: string; process: string; waitSeconds?: number }

/**
 * Reads a process from an offset on, until `enough` says so of what was read. `waitSeconds` waits for the end of the process,
 * not for output, so do not give it if `enough` looks at the output.
 */
const readProcess = async (
  call: Tools,
  place: PlaceOfProcess,
  from: number,
  enough: (text: string, ended: boolean) => boolean | Promise<boolean>,
) => {
  let [offset, text] = [from, '']
  for (;;) {
    const { facts, data } = await call('read_process', { ...place, offset })
    text += data[0] ?? ''
    offset = Number(found(facts, /offset: (\d+)/))
    if (await enough(text, facts.includes('ended'))) return { text, offset, facts }
  }
}

const runTools = async (call: Tools, scenario: Scenario, name: string) => {
  const dock = name
  const created = await call('create_dock', { name, ...scenario.dock })
  for (const [path, content] of Object.entries(scenario.files))
    await call('write_file', { dock, path: `${scenario.folder}/${path}`, content })
  const { facts, data } = await call('run_command', { dock, command: scenario.run })
  const run = { exitCode: Number(found(facts, /Exit code (\d+)/)), stdout: data[0], stderr: data[1] }

  const start = async (command: string) => ({
    dock,
    process: found((await call('start_process', { dock, command })).facts, /process (\S+)\./),
  })
  let lines = 0
  const stream = await readProcess(call, await start(scenario.stream), 0, async (text, ended) => {
    for (const number of [...text.matchAll(/^line (\d+)\n/gm)].map((match) => match[1]).slice(lines)) {
      await call('write_file', { dock, path: `go-${number}`, content: '' })
      lines += 1
    }
    return ended
  })
  const background = await start(scenario.background)
  const before = await readProcess(call, background, 0, (text) => text.endsWith('\n'))
  await call('write_file', { dock, path: 'continue', content: '' })
  const toItsEnd = { ...background, waitSeconds: 1 }
  const after = await readProcess(call, toItsEnd, before.offset, (_, ended) => ended)

  const copy = `${name}-copy`
  await call('branch_dock', { dock, name: copy })
  await call('run_command', { dock: copy, command: scenario.branch })
  const words = async (of: string) =>
    (await call('read_file', { dock: of, path: 'project/words.txt' })).data[0]
  const branch = { copy: await words(copy), original: await words(dock) }
  await call('delete_dock', { dock: copy, name: copy })

  await call('stop_dock', { dock })
  const listed = (await call('list_snapshots', { dock })).data[0] ?? ''
  const snapshot = found(listed, /id=(\S+) .*status=completed/)
  const file = await call('read_snapshot_file', { snapshot, path: scenario.snapshotFile })
  await call('resume_dock', { dock })
  const folder = (await call('list_files', { dock, path: scenario.download })).data[0] ?? ''
  const download: Record<string, string | undefined> = {}
  for (const line of folder.split('\n')) {
    const path = JSON.parse(found(line, /^file .*? (".*")$/)) as string
    download[path] = (await call('read_file', { dock, path: `${scenario.download}/${path}` })).data[0]
  }
  await call('delete_dock', { dock, name })
  const isDeleted = !(await call('list_docks')).data.join().includes(`"${name}"`)
  return {
    ...{ ready: /state=(ready|idle|running)/.test(created.facts), run, branch, download, isDeleted },
    stream: stream.text.trimEnd().split('\n'),
    background: {
      before: before.text,
      after: after.text,
      exitCode: Number(found(after.facts, /exit code (\d+)/)),
    },
    snapshotFile: file.data[0],
  }
}

/** Returns a runner that connects and uses the tools. */
export function mcp(connect: (run: ScenarioRun) => Promise<Client>): Runner {
  return async (run) => {
    const client = await connect(run)
    try {
      const scenario = JSON.parse(await readFile(run.scenario, 'utf8')) as Scenario
      return await runTools(toolsOf(client), scenario, run.name)
    } finally {
      await client.close()
    }
  }
}
