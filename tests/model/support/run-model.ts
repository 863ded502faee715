/**
 * Runs a vitest project of the model tests. The script's arguments are the number of runs and the seed. The default
 * seed changes daily.
 */
import { spawn } from 'node:child_process'

export function runModel(project: string, defaultRuns: number): void {
  const [runs = String(defaultRuns), seed = String(Math.floor(Date.now() / 86_400_000))] =
    process.argv.slice(2)
  process.stdout.write(`${runs} runs of each property, seed ${seed}\n`)
  const child = spawn('npx', ['vitest', 'run', '--project', project, '--reporter=verbose'], {
    cwd: new URL('../../..', import.meta.url),
    env: { ...process.env, DOCK_MODEL_RUNS: runs, DOCK_MODEL_SEED: seed },
    stdio: 'inherit',
  })
  child.once('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
