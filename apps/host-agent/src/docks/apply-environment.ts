/** Replaces the variables and secret files of a running sandbox. */
import { faultPoint } from '@dock/foundation'
import type { DockVariables, SecretFiles } from '@dock/host-protocol'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { dockUser, staticBash } from '../sandboxes/login-shell.ts'
import { applyFiles } from './secret-files.ts'
import { settleAll } from './settle-all.ts'
import { takeVariables, variablesFile, variablesFolder } from './variables.ts'

const timeoutMs = 10_000

// Runs with the Dock user's group: the user may read the file but not change it.
const script = `${takeVariables}
[ -d ${variablesFolder} ] || /bin/mkdir -p ${variablesFolder} || exit 11
take_variables
`

const giveVariables = async (
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  env: DockVariables,
): Promise<void> => {
  const input = variablesFile(env)
  const { exitCode } = await driver.exec(sandbox, {
    argv: ['/bin/bash', '-c', script],
    executable: staticBash,
    env: { PATH: '/usr/bin:/bin', DOCK_BYTES: String(input.length) },
    ...{ cwd: '/', uid: 0, gid: dockUser.gid, timeoutMs, outputLimitBytes: 1024, input },
  })
  if (exitCode === 0) return
  throw new Error(`the sandbox did not accept its variables: exit ${exitCode}`)
}

/**
 * Replaces the variables, and the secret files if `files` is given. Throws if the sandbox does not accept them. No part of
 * the work is still running when this throws.
 */
export async function applyEnvironment(
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  { env, files }: { env: DockVariables; files?: SecretFiles | undefined },
): Promise<void> {
  faultPoint('agent:apply:before')
  await settleAll([
    giveVariables(driver, sandbox, env).then(() => faultPoint('agent:apply:between')),
    files ? applyFiles(driver, sandbox, files) : Promise.resolve(),
  ])
  faultPoint('agent:apply:after')
}
