/**
 * script/prove fuzz [requests, 20000] [seed]: runs the fuzz tests of tests/api at full length, and puts every hostile value
 * into every input. The seed changes daily.
 */
import { spawn } from 'node:child_process'

const [requests = '20000', seed = String(Math.floor(Date.now() / 86_400_000))] = process.argv.slice(2)

const child = spawn(
  'npx',
  [
    'vitest',
    'run',
    '--project',
    'api',
    'tests/api/fuzz.test.ts',
    'tests/api/fuzz-outside-contract.test.ts',
    'tests/api/hostile-inputs.test.ts',
    '--reporter=verbose',
  ],
  {
    cwd: new URL('../..', import.meta.url),
    env: {
      ...process.env,
      DOCK_FUZZ_REQUESTS: requests,
      DOCK_FUZZ_SEED: seed,
      DOCK_HOSTILE_VALUES: 'all',
    },
    stdio: 'inherit',
  },
)
child.once('exit', (code) => {
  process.exitCode = code ?? 1
})
