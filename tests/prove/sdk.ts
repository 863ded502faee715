/**
 * script/prove sdk: runs the SDK's own tests, the scenario of tests/clients, and reading and writing through connections
 * that break, in Node 20, Deno and Bun, against a server of its own. Needs root.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { nothingLost, runThroughCuts } from '../clients/broken-connections.ts'
import type { Scenario } from '../clients/typescript.ts'
import { typescriptProgram } from '../clients/typescript-program.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'
import { bundleTest, testFiles } from './sdk/bundle-tests.ts'

const run = promisify(execFile)
const checkout = new URL('../../', import.meta.url).pathname
const installed = join(checkout, '.tools/runtimes')
const scenarioFile = join(checkout, 'tests/clients/scenario.json')

const isArm = process.arch === 'arm64'
const packages = join(installed, 'node_modules')
const runtimes: readonly [name: string, command: [string, ...string[]]][] = [
  ['Node 20', [join(packages, `node-linux-${isArm ? 'arm64' : 'x64'}/bin/node`)]],
  ['Deno', [join(packages, `@deno/linux-${isArm ? 'arm64' : 'x64'}-glibc/deno`), 'run', '-A', '--quiet']],
  ['Bun', [join(packages, `@oven/bun-linux-${isArm ? 'aarch64' : 'x64'}/bin/bun`)]],
]

type Outcome = { passed: string[]; failed: Record<string, string> }
let failures = 0
const report = (isGood: boolean, line: string, detail = ''): void => {
  if (!isGood) failures += 1
  console.log(`${isGood ? 'ok  ' : 'FAIL'} ${line}${isGood ? '' : `\n${detail}`}`)
}

/** Prints the outcome of `work`, which returns null or what went wrong. */
const prove = async (name: string, work: () => Promise<string | null>): Promise<void> => {
  const problem = await work().catch((error: unknown) => String((error as Error).stack).slice(0, 4000))
  report(problem === null, name, problem ?? '')
}

const ownTests = async (file: string, [program, ...args]: [string, ...string[]], home: string) => {
  const test = await bundleTest(file, home)
  const { stdout } = await run(program, [...args, test], {
    timeout: 120_000,
    env: { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' },
  })
  const { passed, failed } = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Outcome
  if (passed.length === 0) return 'no test ran'
  return Object.keys(failed).length === 0 ? null : JSON.stringify(failed, null, 2)
}

const compared = (actual: unknown, wanted: unknown): string | null =>
  isDeepStrictEqual(actual, wanted) ? null : `${JSON.stringify(actual)}\nis not\n${JSON.stringify(wanted)}`

await run(join(checkout, 'script/install/runtimes'), [installed])
const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort())
const folder = await mkdtemp(join(tmpdir(), 'dock-prove-sdk-'))
try {
  const scenario = JSON.parse(await readFile(scenarioFile, 'utf8')) as Scenario
  const upload = join(folder, 'upload')
  for (const [path, text] of Object.entries(scenario.files)) {
    await mkdir(dirname(join(upload, path)), { recursive: true })
    await writeFile(join(upload, path), text)
  }
  for (const [name, command] of runtimes) {
    const home = join(folder, name.replace(' ', '-'))
    const download = join(home, 'download')
    await mkdir(download, { recursive: true })
    for (const file of testFiles) await prove(`${name}: ${file}`, () => ownTests(file, command, home))
    const { baseUrl, apiKey, email, password } = server.admin
    const place = { baseUrl, apiKey, email, password, scenario: scenarioFile, upload, download, home }
    await prove(`${name}: the scenario`, async () =>
      compared(
        await typescriptProgram(...command)({ ...place, name: `prove-${home.length}` }),
        scenario.expected,
      ),
    )
    await prove(`${name}: connections that break`, async () => {
      const { result, cuts } = await runThroughCuts({ baseUrl, apiKey, home }, command)
      return cuts > 5 ? compared(result, nothingLost) : `only ${cuts} connections broke`
    })
  }
} finally {
  await server.interrupt()
  await removeDataDir(dataDir)
  await rm(folder, { recursive: true })
}
console.log(failures === 0 ? 'all proved' : `${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1
