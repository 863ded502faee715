/**
 * script/prove microvm [part…]: a host of microVMs. The parts are `driver` (the conformance suite and the machines), `hostile`
 * (guests whose agent lies, and the jail on control groups of version 2), `fleet` (one host of each runtime), `inside` (what only
 * a kernel of its own gives a Dock), names of end-to-end tests, and those that are listed below; without any, all. Machines are
 * emulated and slow unless KVM works, so this takes hours. DOCK_RUNTIME=gvisor shows what a part finds on the other runtime.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fivePackages, fiveThings } from './inside/five-things.ts'
import { tryThings } from './inside/try-things.ts'
import type { Check } from './microvm/check.ts'

/** End-to-end tests that hold on every runtime. */
const endToEnd = [
  ...['first-dock', 'stop-resume-branch', 'terminal', 'processes', 'ports', 'files', 'ssh', 'environments'],
  ...['sudo', 'repositories', 'warm-pool', 'cancel-on-disconnect', 'disk-size', 'webhooks', 'cli'],
]
const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const broken: string[] = []
const check: Check = (what, holds, detail = '') => {
  if (!holds) broken.push(what)
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && !holds ? `: ${detail}` : ''}`)
}
const environment = {
  ...{ DOCK_RUNTIME: 'microvm', DOCK_MICROVM_TCG: 'allow' },
  // Sixteen emulated machines would boot in the background.
  DOCK_WARM_POOL: '2',
  ...process.env,
}
Object.assign(process.env, environment)

const runTests = async (...args: readonly string[]): Promise<void> => {
  const child = spawn('npx', ['vitest', 'run', '--project', ...args], { stdio: 'inherit', env: environment })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) broken.push(args.join(' '))
}

const proveInside = async (): Promise<void> => {
  const trial = { runtime: 'microvm', image: 'inside', packages: fivePackages, things: fiveThings } as const
  for (const [name, outcome] of await tryThings(trial)) if (outcome !== 'works') broken.push(name)
}

const own: Readonly<Record<string, () => Promise<void>>> = {
  driver: () => runTests('microvm'),
  hostile: () => runTests('microvm-hostile', '--exclude', 'tests/microvm-hostile/broken-links.test.ts'),
  fleet: () => runTests('fleet'),
  inside: proveInside,
  'broken-links': () => runTests('microvm-hostile', 'tests/microvm-hostile/broken-links.test.ts'),
  runs: () => runTests('e2e-alone', 'tests/e2e/alone/runs.test.ts'),
  'control-plane': async () => (await import('./microvm/control-plane.ts')).proveControlPlane(check, print),
  crashes: () => runTests('e2e-alone', 'tests/e2e/alone/crash.test.ts'),
  reboot: async () => (await import('./microvm/reboot.ts')).proveReboot(check),
  kills: async () => (await import('./microvm/kills.ts')).proveKills(check, print),
}
const all = [...Object.keys(own), ...endToEnd]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((part) => !all.includes(part))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}. Parts: ${all.join(', ')}`)
  process.exit(2)
}
const parts = wanted.length > 0 ? wanted : all
for (const [name, prove] of Object.entries(own)) {
  if (!parts.includes(name)) continue
  const begin = Date.now()
  await prove()
  print(`        ${name}: ${((Date.now() - begin) / 1000).toFixed(0)} s`)
}
const files = parts.filter((part) => endToEnd.includes(part)).map((part) => `tests/e2e/${part}.test.ts`)
if (files.length > 0) await runTests('e2e', ...files)
print(broken.length === 0 ? 'pass: microVMs run Docks' : `fail: ${broken.join(', ')}`)
process.exit(broken.length === 0 ? 0 : 1)
