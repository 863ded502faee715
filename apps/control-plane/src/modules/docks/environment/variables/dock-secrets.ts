/** All that a Dock was given and that no text which people read may show. */
import type { Db } from '../../../../database/database.ts'
import type { Sealer } from '../../../../sealing/index.ts'
import { openVariables } from './dock-variables.ts'
import type { Secrets } from './mask-secrets.ts'

type Target = { organizationId: string; dockId: string }

/** Its own variables, and what its Environment passes on to it. */
export type SecretsOf = (target: Target) => Promise<Secrets>

export function createSecretsOf(options: { db: Db; sealer: Sealer; passed: SecretsOf }): SecretsOf {
  return async (target) => {
    const [own, passed] = await Promise.all([openVariables(options, target), options.passed(target)])
    return { ...passed, variables: [...Object.values(own), ...passed.variables] }
  }
}
