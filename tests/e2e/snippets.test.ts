/** Runs the code of the documents that is marked with `run` (CONTRIBUTING.md, "Code in documents"). */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { createDock } from './support/dock.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
const checkout = new URL('../../', import.meta.url).pathname
const run = promisify(execFile)

/** The address and the Dock that documents name as examples. */
const example = { url: 'https://dock.example.com', dock: '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11' }

const documents = ['README.md', 'docs/files.md', 'docs/processes.md', 'docs/sdk.md']

/** Returns the marked blocks of a language, in their order. */
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language} run\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code!)

/** All blocks of a document are one script: later ones use the variables of earlier ones. */
const shellScript = (blocks: readonly string[]): string => `set -euo pipefail\n${blocks.join('\n')}`

/** Each block but the first has names of its own, and uses those of the first one. Imports come first. */
const module = (blocks: readonly string[]): string => {
  const imports = new Set(blocks.flatMap((block) => block.match(/^import .*$/gm) ?? []))
  const names = [...imports].join('\n').matchAll(/[{,]\s*(\w+)/g)
  const bodies = blocks.map((block) => block.replaceAll(/^import .*$/gm, ''))
  const [first = '', ...others] = bodies
  const all = [...new Set([...names].map(([, name]) => name!))].join(', ')
  return `import { ${all} } from '@dock/sdk'\n${first}\n${others.map((body) => `{\n${body}\n}`).join('\n')}`
}

it.each(documents)('runs the marked code of %s', async (document) => {
  const { admin } = server
  const text = await readFile(join(checkout, document), 'utf8')
  const folder = await mkdtemp(join(tmpdir(), 'dock-snippets-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, '.dock'))
  await writeFile(join(folder, '.dock/admin.json'), JSON.stringify(admin))
  await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'))
  const shell = blocksOf(text, 'sh')
  const typescript = blocksOf(text, 'ts')
  expect(shell.length + typescript.length).toBeGreaterThan(0)
  const { id } = await createDock(server)
  const real = (code: string): string =>
    code
      .replaceAll(example.url, admin.baseUrl)
      .replaceAll(example.dock, id)
      .replaceAll('localhost:8080', new URL(admin.baseUrl).host)
  const options = {
    cwd: folder,
    timeout: 120_000,
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: folder, LANG: 'C.UTF-8' },
      ...{ DOCK_URL: admin.baseUrl, DOCK_API_KEY: admin.apiKey },
    },
  }
  if (shell.length > 0) await run('bash', ['-c', real(shellScript(shell))], options)
  if (typescript.length > 0) {
    await writeFile(join(folder, 'program.mts'), real(module(typescript)))
    await run(process.execPath, ['program.mts'], options)
  }
})
