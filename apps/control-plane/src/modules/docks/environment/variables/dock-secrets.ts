/** Collects a Dock's secrets, so that they can be masked in any text shown to people. */
import type { Db } from '../../../../database/database.ts'
import type { Sealer } from '../../../../sealing/index.ts'
import { openVariables } from './dock-variables.ts'
import type { Secrets } from './mask-secrets.ts'

type Target = { organizationId: string; dockId: string }

/** Returns the Dock's own variables and the secrets that its Environment passes. */
export type SecretsOf = (target: Target) => Promise<Secrets>

export function createSecretsOf(options: { db: Db; sealer: Sealer; passed: SecretsOf }): SecretsOf {
  return async (target) => {
    const [own, passed] = await Promise.all([openVariables(options, target), options.passed(target)])
    return { ...passed, variables: [...Object.values(own), ...passed.variables] }
  }
}
