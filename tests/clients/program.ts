/** Runs a client that is a program of its own. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const checkout = new URL('../../', import.meta.url).pathname

export type ScenarioRun = {
  baseUrl: string
  apiKey: string
  /** The person whose key it is, for clients that sign in. */
  email: string
  password: string
  /** The name of the Dock to create. */
  name: string
  /** The path of scenario.json. */
  scenario: string
  /** A local folder that contains the scenario's files. */
  upload: string
  /** An empty local folder. */
  download: string
  /** An empty folder for the client's own files. */
  home: string
}

/** Does the work of the scenario and returns the result. */
export type Runner = (run: ScenarioRun) => Promise<unknown>

const patienceMs = 120_000

/** Returns a runner that starts a program in the checkout, with what it needs in its environment. */
export function program(file: string, ...args: string[]): Runner {
  return (scenario) => runProgram(scenario, file, args)
}

/** Runs the program and returns what its last line of output says. */
export async function runProgram(
  { baseUrl, apiKey, name, scenario, upload, download, home }: Omit<ScenarioRun, 'email' | 'password'>,
  file: string,
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<unknown> {
  const { stdout } = await run(file, args, {
    cwd: checkout,
    timeout: patienceMs,
    maxBuffer: 16 * 1024 * 1024,
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' },
      ...{ DOCK_URL: baseUrl, DOCK_API_KEY: apiKey, DOCK_SCENARIO: scenario, DOCK_SCENARIO_NAME: name },
      ...{ DOCK_SCENARIO_UPLOAD: upload, DOCK_SCENARIO_DOWNLOAD: download },
      ...more,
    },
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}
