/**
 * The scenario with the TypeScript SDK. It runs in Node, Deno, Bun and browsers, so it gets what differs: the SDK, and how
 * a folder is copied.
 */
import type { ClientOptions, Dock, DockFiles } from '@dock/sdk'

export type Scenario = {
  dock: { cpus: number; memoryMiB: number; diskGiB: number }
  folder: string
  files: Record<string, string>
  run: string
  stream: string
  background: string
  branch: string
  snapshotFile: string
  download: string
  expected: Record<string, unknown>
}

export type ScenarioPlace = {
  name: string
  connection: Pick<ClientOptions, 'baseUrl' | 'apiKey'>
  upload(files: DockFiles, scenario: Scenario): Promise<void>
  /** Returns the text of each file of the folder. */
  download(files: DockFiles, scenario: Scenario): Promise<Record<string, string>>
}

const streamed = async (dock: Dock, command: string): Promise<string[]> => {
  const process = await dock.spawn(command)
  const lines: string[] = []
  for await (const line of process.stdout.lines()) {
    lines.push(line)
    const number = /^line (\d+)$/.exec(line)?.[1]
    if (number !== undefined) await dock.files.write(`go-${number}`, '')
  }
  return lines
}

const inBackground = async (dock: Dock, command: string) => {
  const { id, stdout } = await dock.spawn(command)
  let before = ''
  for await (const chunk of stdout) {
    before += new TextDecoder().decode(chunk)
    if (before.endsWith('\n')) break
  }
  const process = dock.processes.attach(id, { offset: new TextEncoder().encode(before).length })
  await dock.files.write('continue', '')
  const after = await process.stdout.text()
  return { before, after, exitCode: (await process.wait()).exitCode }
}

const branched = async (dock: Dock, command: string) => {
  const copy = await dock.branch({ onDispose: 'delete' })
  try {
    await copy.exec(command)
    const read = ({ files }: Dock) => files.readText('project/words.txt')
    return { copy: await read(copy), original: await read(dock) }
  } finally {
    // What the end of `await using` does.
    await copy[Symbol.asyncDispose]()
  }
}

/** Does the work of the scenario and returns its result. */
export async function runScenario(
  { Dock: Docks, DockService }: typeof import('@dock/sdk'),
  scenario: Scenario,
  { name, connection, upload, download }: ScenarioPlace,
): Promise<Record<string, unknown>> {
  const service = new DockService(connection)
  const dock = await Docks.create({ client: service.client, name, ...scenario.dock })
  const ready = ['ready', 'idle', 'running'].includes(dock.info.state)
  await upload(dock.files, scenario)
  const { exitCode, stdout, stderr } = await dock.exec(scenario.run)
  const stream = await streamed(dock, scenario.stream)
  const background = await inBackground(dock, scenario.background)
  const branch = await branched(dock, scenario.branch)
  await dock.stop()
  const snapshot = await service.snapshots.latest(dock.id)
  const snapshotFile = snapshot && (await service.snapshots.readText(snapshot.id, scenario.snapshotFile))
  await dock.resume()
  const downloaded = await download(dock.files, scenario)
  await dock.delete()
  const isDeleted = (await service.list()).every(({ id }) => id !== dock.id)
  return {
    ...{ ready, run: { exitCode, stdout, stderr }, stream, background, branch, snapshotFile, isDeleted },
    download: downloaded,
  }
}
