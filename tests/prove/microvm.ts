/**
 * script/prove microvm [part…]: a host of microVMs. The parts are `driver` (the conformance suite and the machines), `hostile`
 * (guests whose agent lies, and the jail on control groups of version 2), `fleet` (one host of each runtime), `inside` (what only
 * a kernel of its own gives a Dock) and names of end-to-end tests; without any, all. Machines are emulated unless KVM works, so
 * this takes an hour.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fivePackages, fiveThings } from './inside/five-things.ts'
import { tryThings } from './inside/try-things.ts'

/** End-to-end tests that hold on every runtime. */
const endToEnd = [
  ...['first-dock', 'stop-resume-branch', 'terminal', 'processes', 'ports', 'files', 'ssh', 'environments'],
  ...['sudo', 'repositories', 'warm-pool', 'cancel-on-disconnect', 'disk-size', 'webhooks', 'cli'],
]
/** Parts that are a project of tests. */
const projects = { driver: 'microvm', hostile: 'microvm-hostile', fleet: 'fleet' }
const all = [...Object.keys(projects), 'inside', ...endToEnd]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((part) => !all.includes(part))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}. Parts: ${all.join(', ')}`)
  process.exit(2)
}
const parts = wanted.length > 0 ? wanted : all

const runTests = async (args: readonly string[]): Promise<boolean> => {
  const child = spawn('npx', ['vitest', 'run', ...args], {
    stdio: 'inherit',
    env: { ...process.env, DOCK_RUNTIME: 'microvm', DOCK_MICROVM_TCG: 'allow' },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

const broken: string[] = []
for (const [part, project] of Object.entries(projects))
  if (parts.includes(part) && !(await runTests(['--project', project]))) broken.push(part)
if (parts.includes('inside')) {
  const trial = { runtime: 'microvm', image: 'inside', packages: fivePackages, things: fiveThings } as const
  for (const [name, outcome] of await tryThings(trial)) if (outcome !== 'works') broken.push(name)
}
const files = parts.filter((part) => endToEnd.includes(part)).map((part) => `tests/e2e/${part}.test.ts`)
if (files.length > 0 && !(await runTests(['--project', 'e2e', ...files]))) broken.push('end-to-end tests')
console.log(broken.length === 0 ? 'pass: microVMs run Docks' : `fail: ${broken.join(', ')}`)
process.exit(broken.length === 0 ? 0 : 1)
