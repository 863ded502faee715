/** script/prove model [runs, 1000] [seed]: tests/model at its full length, with a seed of the day. */
import { spawn } from 'node:child_process'

const [runs = '1000', seed = String(Math.floor(Date.now() / 86_400_000))] = process.argv.slice(2)
process.stdout.write(`${runs} runs of each property, seed ${seed}\n`)

const child = spawn('npx', ['vitest', 'run', '--project', 'model', '--reporter=verbose'], {
  cwd: new URL('..', import.meta.url),
  env: { ...process.env, DOCK_MODEL_RUNS: runs, DOCK_MODEL_SEED: seed },
  stdio: 'inherit',
})
child.once('exit', (code) => {
  process.exitCode = code ?? 1
})
