/** The TypeScript SDK in a runtime that is a program: Node, Deno or Bun. */
import { join } from 'node:path'
import { buildForClients } from './built-sdk.ts'
import { type Runner, runProgram } from './program.ts'

const main = new URL('typescript-main.mjs', import.meta.url).pathname

/** `args` come before the script. */
export function typescriptProgram(file: string, ...args: string[]): Runner {
  return async (scenario) => {
    const { sdk, scenarioCode } = await buildForClients(join(scenario.home, 'sdk'))
    return runProgram(scenario, file, [...args, main], { DOCK_SDK: sdk, DOCK_SCENARIO_CODE: scenarioCode })
  }
}
