/**
 * The scenario as a program of Node, Deno and Bun. `DOCK_SDK` is the built package, and `DOCK_SCENARIO_CODE` the built
 * typescript.ts: Node 20 runs no TypeScript.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import process from 'node:process'

const { DOCK_SDK, DOCK_SCENARIO_CODE, DOCK_SCENARIO, DOCK_SCENARIO_NAME } = process.env
const { DOCK_SCENARIO_UPLOAD, DOCK_SCENARIO_DOWNLOAD } = process.env
const sdk = await import(DOCK_SDK)
const { runScenario } = await import(DOCK_SCENARIO_CODE)

const textsBelow = async (folder) => {
  const texts = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath ?? entry.path, entry.name)
    texts[relative(folder, file)] = await readFile(file, 'utf8')
  }
  return texts
}

const result = await runScenario(sdk, JSON.parse(await readFile(DOCK_SCENARIO, 'utf8')), {
  name: DOCK_SCENARIO_NAME,
  // The address and the key come from the environment.
  connection: {},
  upload: (files, { folder }) => files.upload(DOCK_SCENARIO_UPLOAD, folder),
  download: async (files, { download }) => {
    await files.download(download, DOCK_SCENARIO_DOWNLOAD)
    return textsBelow(DOCK_SCENARIO_DOWNLOAD)
  },
})
process.stdout.write(`${JSON.stringify(result)}\n`)
