/** The package as it is published. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildSdk } from '../build/build-sdk.ts'

const run = promisify(execFile)
const bytesMax = 15_000
const tsc = new URL('../../../node_modules/.bin/tsc', import.meta.url).pathname

let folder: string
let project: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-sdk-'))
  const built = join(folder, 'built')
  await buildSdk(built)
  // Installed as npm would, with nothing else beside it.
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder, built])
  project = join(folder, 'project')
  await mkdir(join(project, 'node_modules/@dock/sdk'), { recursive: true })
  const unpack = ['--strip-components=1', '-C', join(project, 'node_modules/@dock/sdk')]
  await run('tar', ['-x', '-f', join(folder, stdout.trim()), ...unpack])
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
})
afterAll(() => rm(folder, { recursive: true }))

const published = () => join(project, 'node_modules/@dock/sdk')

it('has at most 15 kB gzipped, all chunks together', async () => {
  const code = (await readdir(published())).filter((name) => name.endsWith('.js'))
  const sizes = await Promise.all(
    code.map(async (name) => gzipSync(await readFile(join(published(), name))).length),
  )
  const all = sizes.reduce((sum, size) => sum + size, 0)
  expect(all).toBeGreaterThan(5000)
  expect(all).toBeLessThanOrEqual(bytesMax)
})

it('needs no other package, and Node’s modules only for local files', async () => {
  const manifest = JSON.parse(await readFile(join(published(), 'package.json'), 'utf8'))
  expect([manifest.name, manifest.dependencies]).toEqual(['@dock/sdk', undefined])
  for (const name of (await readdir(published())).filter((each) => each.endsWith('.js'))) {
    const text = await readFile(join(published(), name), 'utf8')
    const imports = [...text.matchAll(/(?:from|import\()\s*["'`]([^"'`]+)["'`]/g)].map(([, path]) => path!)
    const foreign = imports.filter((path) => !path.startsWith('./') && !path.startsWith('node:'))
    expect(foreign, name).toEqual([])
    if (name === 'index.js') expect(imports.filter((path) => path.startsWith('node:'))).toEqual([])
    expect(text).not.toContain('zod')
  }
})

it('keeps the names of its errors, though minifiers rename classes', async () => {
  const program = `import { hasCode, NotFoundError } from '@dock/sdk'
    const error = new NotFoundError('dock_not_found', 404, 'No.')
    console.log(error.name, String(error), hasCode(error, 'dock_not_found'))`
  await writeFile(join(project, 'program.js'), program)
  const { stdout } = await run(process.execPath, [join(project, 'program.js')])
  expect(stdout).toBe('NotFoundError NotFoundError: No. true\n')
})

it('has types that a strict project can use', async () => {
  const program = `import { Dock, type DockInfo, DockService } from '@dock/sdk'
    export async function work(): Promise<string> {
      await using dock = await Dock.create({ from: 'base', onDispose: 'delete' })
      const info: DockInfo = dock.info
      for await (const { stream, data } of await dock.spawn(['make'], { stdin: true })) console.log(stream, data.length, info.state)
      const me = await new DockService().client.call('readMe')
      // @ts-expect-error: a Dock has no such option
      await Dock.create({ colour: 'red' })
      return me.email + (await dock.exec('true')).stdout
    }`
  await writeFile(join(project, 'program.ts'), program)
  const settings = [
    '--strict',
    '--noEmit',
    '--target',
    'esnext',
    '--module',
    'nodenext',
    '--lib',
    'esnext,dom,dom.asynciterable',
  ]
  const { stdout } = await run(tsc, ['--ignoreConfig', ...settings, '--types', '', 'program.ts'], {
    cwd: project,
  }).catch((error: { stdout: string }) => error)
  expect(stdout).toBe('')
})
