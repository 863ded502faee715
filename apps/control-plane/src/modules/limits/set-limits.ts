/** `script/admin limits`: shows or sets the limits of an organization, for operators. */
import { organizationLimitNames, organizationLimitsChange } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { changeLimits } from './change-limits.ts'
import { findOrganizationId, readOwnLimits, readUsage } from './limit-store.ts'

const readChange = (changes: readonly string[]) => {
  const entries = changes.map((change) => {
    const [, name, value] = /^(\w+)=(\d+|default)$/.exec(change) ?? []
    if (name === undefined || !organizationLimitNames.some((known) => known === name))
      throw new Error(
        `${change}: must be NAME=NUMBER or NAME=default, where NAME is one of ${organizationLimitNames.join(', ')}`,
      )
    return [name, value === 'default' ? null : Number(value)]
  })
  return organizationLimitsChange.parse(Object.fromEntries(entries))
}

/** Applies changes such as `docks=20` or `cpus=default` and returns a table of the limits and the usage. */
export async function setLimits(
  context: { db: Db; clock: Clock },
  organization: string,
  changes: readonly string[],
): Promise<string> {
  const { db } = context
  const change = readChange(changes)
  const id = await findOrganizationId(db, organization)
  if (id === null) throw new Error(`there is no organization with the slug or id ${organization}`)
  if (changes.length > 0) await changeLimits(context, { kind: 'operator' }, id, change)
  const [own, usage] = [await readOwnLimits(db, id), await readUsage(db, id)]
  return organizationLimitNames
    .map((name) => `${name.padEnd(13)}${String(usage[name]).padStart(10)} of ${own[name] ?? 'the default'}`)
    .join('\n')
}
