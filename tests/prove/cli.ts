/**
 * Shows what the command line promises and a test cannot, or only slowly: the package in an empty prefix of npm, sign-in in
 * Chromium, 100 MB both ways, Ctrl-C in a terminal, completion in bash, zsh and fish as a person types it, and the times of
 * its start. Installs tmux, zsh and fish.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { createDock } from '../e2e/support/dock.ts'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'
import type { Check } from './cli/check.ts'
import { proveCompletion, shells } from './cli/completion.ts'
import { installPackage, proveBytes, proveInterrupt, proveLogin } from './cli/installed.ts'

const run = promisify(execFile)
const checkout = new URL('../../', import.meta.url).pathname

let failed = 0
const check: Check = (name, isGood, detail) => {
  if (!isGood) failed += 1
  console.log(`${isGood ? 'good' : 'FAILED'}  ${name}: ${detail}`)
}

/** The fastest of some rounds: other programs on the machine only add to it. */
const timeOf = async (cli: Cli, words: string[]): Promise<number> => {
  const times: number[] = []
  for (let round = 0; round < 30; round++) {
    const began = performance.now()
    await run(process.execPath, words, { env: cli.env })
    times.push(performance.now() - began)
  }
  return Math.min(...times)
}

/** The limits are 50 and 150 ms where Node itself takes 30; a slow machine gets as much more as Node needs more there. */
const proveSpeed = async (cli: Cli): Promise<void> => {
  const empty = join(cli.folder, 'empty.mjs')
  await writeFile(empty, '')
  const bare = await timeOf(cli, [empty])
  const factor = Math.max(1, bare / 30)
  for (const [words, limit] of [
    [['--version'], 50],
    [['ls'], 150],
  ] as const) {
    const time = await timeOf(cli, [cli.program, ...words])
    const detail = `${time.toFixed(0)} ms, Node alone ${bare.toFixed(0)} ms, limit ${(limit * factor).toFixed(0)} ms`
    check(`dock ${words.join(' ')}`, time <= limit * factor, detail)
  }
}

await run('script/install/debian-packages', ['tmux', 'zsh', 'fish'], { cwd: checkout })
await run('script/install/chromium', [], { cwd: checkout })
const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort())
const cli = await createCli(server.admin)
try {
  const trap = join(cli.folder, 'trap')
  const { id } = await createDock(server, { name: 'unmistakable' })
  await createDock(server, { name: `trap$(touch ${trap})` })
  const installed = await installPackage(cli, check)
  await proveLogin(installed, server, check)
  await proveBytes(installed, check, 'unmistakable')
  await proveInterrupt(installed, server, check, id)
  for (const name of Object.keys(shells) as (keyof typeof shells)[])
    await proveCompletion(installed, check, name, trap)
  await proveSpeed(cli)
} finally {
  await cli.remove()
  await server.interrupt()
  await removeDataDir(dataDir)
}
console.log(failed === 0 ? 'all proved' : `${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
