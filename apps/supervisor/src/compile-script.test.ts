/**
 * script/install/compile bundles what the sources say, and replaces no file under a server that runs from the same checkout.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const scripts = resolve(import.meta.dirname, '../../../script')
const programs = {
  'control-plane': 'apps/control-plane/src/main.ts',
  'host-agent': 'apps/host-agent/src/main.ts',
  'process-keeper': 'apps/host-agent/src/process-keeper/main.ts',
  'microvm-pump': 'packages/runtime-microvm/src/pump/main.ts',
  supervisor: 'apps/supervisor/src/main.ts',
} as const
const environment = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }

let checkout: string
let server: ChildProcess | undefined
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'dock-compile-'))
  for (const script of ['install/compile', 'use-node', 'use-compiled'])
    cpSync(join(scripts, script), join(checkout, 'script', script))
  cpSync(join(scripts, '../apps/supervisor/build'), join(checkout, 'apps/supervisor/build'), {
    recursive: true,
  })
  symlinkSync(join(scripts, '../node_modules'), join(checkout, 'node_modules'))
  mkdirSync(join(checkout, 'packages'))
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}')
  change('1')
})
afterEach(() => {
  server?.kill('SIGKILL')
  rmSync(checkout, { recursive: true })
})

/** The sixth line throws an error, whose class another module has too. */
const sourceOf = (version: string): string => `import { readFileSync } from 'node:fs'
import * as other from './other.ts'
type Removed = { some: 'lines' }
class Broken extends Error {}
const data: string = readFileSync(new URL('data/words.txt', import.meta.url), 'utf8')
if (data === 'broken' && !process.env['DOCK_COMPILE_ONLY']) throw new Broken()
console.log(JSON.stringify(['${version} …', data, import.meta.filename, Broken.name, other.Broken.name]))
`
const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(checkout, file)), { recursive: true })
  writeFileSync(join(checkout, file), text)
  // Like a release that was unpacked: older than the bundles of the one before.
  utimesSync(join(checkout, file), 1, 1)
}
/** Changes the sources and the data of the checkout. */
const change = (to: string): void => {
  for (const source of Object.values(programs)) {
    write(source, sourceOf(to))
    write(join(dirname(source), 'other.ts'), 'export class Broken extends Error {}')
    write(join(dirname(source), 'data/words.txt'), to)
  }
  write('package-lock.json', '{}')
}
/** Runs a bundle of a folder. */
const run = (folder: string, name: string) =>
  spawnSync(process.execPath, ['--enable-source-maps', join(checkout, '.tools', folder, `${name}.mjs`)], {
    env: environment,
    encoding: 'utf8',
  })
/** Compiles. Returns the name of the folder that is current then. */
const compile = (): string => {
  const done = spawnSync(join(checkout, 'script/install/compile'), [], { env: environment, encoding: 'utf8' })
  expect(done.stderr).toBe('')
  expect(done.status).toBe(0)
  return readlinkSync(join(checkout, '.tools/compiled'))
}
const folders = (): string[] =>
  readdirSync(join(checkout, '.tools')).filter((name) => name.startsWith('compiled-'))
const filesOf = (folder: string): string[] =>
  readdirSync(join(checkout, '.tools', folder), { recursive: true, encoding: 'utf8' }).toSorted()
/** Starts a process that uses the compiled programs like script/server. */
const startServer = async (): Promise<ChildProcess> => {
  const program = 'root=$1; source "$root/script/use-compiled"; echo "$DOCK_COMPILED"; exec sleep 600'
  const child = spawn('bash', ['-c', program, 'sh', checkout], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout!, 'data')
  return child
}

it('bundles what the sources say, whatever their times, and leaves the data of a version as they were', async () => {
  const first = compile()
  server = await startServer()
  change('2')
  const second = compile()
  for (const [name, source] of Object.entries(programs)) {
    const said = (folder: string) => JSON.parse(run(folder, name).stdout) as string[]
    const place = (folder: string) => join(checkout, '.tools', folder, source)
    expect(said(second)).toEqual(['2 …', '2', place(second), 'Broken', 'Broken'])
    expect(said(first)).toEqual(['1 …', '1', place(first), 'Broken', 'Broken'])
  }
})

it('names the source in a stack, and the class of an error as the source does', () => {
  change('broken')
  const current = compile()
  for (const [name, source] of Object.entries(programs)) {
    const { stderr } = run(current, name)
    expect(stderr).toContain(`${join(checkout, source)}:6`)
    expect(stderr).toMatch(/^Broken\b/m)
  }
})

it('keeps what a running server uses, and removes it when that server has ended', async () => {
  const first = compile()
  expect(compile()).toBe(first)
  const files = filesOf(first)
  expect(files.length).toBeGreaterThan(1)
  server = await startServer()
  change('2')
  const second = compile()
  expect(second).not.toBe(first)
  expect(filesOf(first)).toEqual(files)
  expect(folders().toSorted()).toEqual([first, second].toSorted())
  server.kill('SIGKILL')
  await once(server, 'exit')
  change('3')
  const third = compile()
  expect(folders()).toEqual([third])
})

it('leaves the folder of an earlier release, which has no lock, to the server that may run from it', () => {
  const former = join(checkout, '.tools/compiled')
  mkdirSync(former, { recursive: true })
  writeFileSync(join(former, 'in-use'), '')
  const current = compile()
  const [kept] = folders().filter((name) => name !== current)
  expect(existsSync(join(checkout, '.tools', kept!, 'in-use'))).toBe(true)
})

it('removes what an interrupted run left', () => {
  mkdirSync(join(checkout, '.tools/compiled-broken'), { recursive: true })
  expect(folders()).toEqual(['compiled-broken'])
  const current = compile()
  expect(folders()).toEqual([current])
})
