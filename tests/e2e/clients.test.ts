/** The same work with every client of Dock: see tests/clients/README.md. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runners } from '../clients/runners.ts'
import type { Scenario } from '../clients/typescript.ts'
import { freshName, useServer } from './support/use-server.ts'

const { admin } = useServer()
const file = new URL('../clients/scenario.json', import.meta.url).pathname

it.each(runners)('gives the same result: %s', async (_, run) => {
  const scenario = JSON.parse(await readFile(file, 'utf8')) as Scenario
  const folder = await mkdtemp(join(tmpdir(), 'dock-client-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [upload, download, home] = ['upload', 'download', 'home'].map((name) => join(folder, name)) as [
    ...[string, string, string],
  ]
  await Promise.all([upload, download, home].map((each) => mkdir(each)))
  for (const [path, text] of Object.entries(scenario.files)) {
    await mkdir(dirname(join(upload, path)), { recursive: true })
    await writeFile(join(upload, path), text)
  }
  const { baseUrl, apiKey, email, password } = admin
  const place = { scenario: file, name: freshName('client'), upload, download, home }
  expect(await run({ ...place, baseUrl, apiKey, email, password })).toEqual(scenario.expected)
})
