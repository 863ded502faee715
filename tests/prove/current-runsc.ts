/**
 * script/prove current-runsc [part…]: builds a current gVisor from its sources and runs Dock on it. The parts are `differences` (a
 * table, beside the release of the tests), `driver` (the conformance suite), `e2e`, `crash` (a sample of the crash matrix)
 * and `bench` (both releases); without any, all. Skips where Go or its modules are not to be had.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buildRunsc } from './current-runsc/build-runsc.ts'
import { printDifferences } from './current-runsc/differences.ts'

const [, , ...wanted] = process.argv
const former = process.env.DOCK_TEST_RUNSC
if (!former) throw new Error('DOCK_TEST_RUNSC is missing: run script/prove current-runsc as root')

const build = await buildRunsc()
if ('skipped' in build) {
  console.log(`skipped: ${build.skipped}`)
  process.exit(0)
}
const current = build.path

/** Runs a program with a release as the runtime of all servers that it starts. */
const runOn = async (runsc: string, command: string, args: readonly string[]): Promise<boolean> => {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, DOCK_RUNSC: runsc, DOCK_TEST_RUNSC: runsc },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}
/** With a parent that takes notice of dead children at once: process 1 may look for them only every two seconds. */
const runTests = (...args: string[]): Promise<boolean> =>
  runOn(current, 'tini', ['-s', '--', 'npx', 'vitest', 'run', ...args])

const parts: Readonly<Record<string, () => Promise<boolean>>> = {
  differences: async () => {
    await printDifferences([former, current])
    return true
  },
  driver: () => runTests('--project', 'own-process', '--project', 'unit', 'packages/runtime-gvisor'),
  e2e: () => runTests('--project', 'e2e', '--project', 'e2e-alone'),
  crash: () => runOn(current, process.execPath, ['tests/prove/crash.ts', '--part', '1/20']),
  bench: async () => {
    let passed = true
    for (const runsc of [former, current]) {
      console.log(`\n== bench main cold warm on ${runsc}`)
      if (!(await runOn(runsc, process.execPath, ['bench/main.ts', 'cold', 'warm']))) passed = false
    }
    return passed
  },
}

const unknown = wanted.filter((part) => !(part in parts))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}`)
  process.exit(2)
}
const broken: string[] = []
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n== ${name}`)
  if (!(await part())) broken.push(name)
}
console.log(broken.length === 0 ? 'pass: Dock runs on a current gVisor' : `fail: ${broken.join(', ')}`)
process.exit(broken.length === 0 ? 0 : 1)
