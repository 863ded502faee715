/** script/install/compile replaces no file under a server that runs from the same checkout. */
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
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const scripts = resolve(import.meta.dirname, '../../../script')
const environment = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` }

let checkout: string
let server: ChildProcess | undefined
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'dock-compile-'))
  for (const script of ['install/compile', 'use-node', 'use-compiled'])
    cpSync(join(scripts, script), join(checkout, 'script', script))
  for (const program of ['control-plane', 'host-agent', 'supervisor'])
    mkdirSync(join(checkout, 'apps', program, 'src'), { recursive: true })
  mkdirSync(join(checkout, 'packages'))
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}')
  change('1')
})
afterEach(() => {
  server?.kill('SIGKILL')
  rmSync(checkout, { recursive: true })
})

/** Changes the sources of the checkout. */
const change = (to: string): void => {
  const source = `export const version: string = '${to}'\n`
  for (const program of ['control-plane', 'host-agent', 'supervisor'])
    writeFileSync(join(checkout, 'apps', program, 'src/main.ts'), source)
  writeFileSync(join(checkout, 'package-lock.json'), to)
}
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
  const program = 'root=$1; source "$root/script/use-compiled"; echo "$NODE_COMPILE_CACHE"; exec sleep 600'
  const child = spawn('bash', ['-c', program, 'sh', checkout], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout!, 'data')
  return child
}

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
