/** GET /v1/docks/:id/last-stop */
import type { DockLastStop, DockState, DockStop } from '@dock/contract'
import { sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { type RecordedStop, stopReasonOf } from './stop-reason.ts'
import { stopSentence } from './stop-sentence.ts'

/** A Dock that runs or starts has not stopped because of what is over: a stop that was refused, or a silent host. */
const shownStates = (state: DockState): DockState[] => [
  'archived',
  'error',
  ...(state === 'archiving' || state === 'unreachable' ? [state] : []),
]

/** The parts of Dock that act by themselves, by the name that a cause has for them. */
const systemNames: Readonly<Record<string, string>> = {
  ttl: 'Auto-stop timer',
  runs: 'GitHub Runs',
  host: 'Host',
  operator: 'Operator',
}

const actorOf = ({ cause, person, keyName, isKnown }: RecordedStop): DockStop['by'] => {
  if (!cause.by.startsWith('user:')) {
    const name = systemNames[cause.by.startsWith('run:') ? 'runs' : cause.by] ?? 'Dock'
    return { kind: 'system', name, keyName: null }
  }
  if (cause.why === 'adopted' && !isKnown) return { kind: 'system', name: 'Operator', keyName: null }
  return {
    kind: cause.apiKeyId ? 'api_key' : 'person',
    name: isKnown && person !== null ? person : 'A former member',
    keyName,
  }
}

/**
 * Returns who or what stopped the Dock, why and when. Throws `dock_not_found`. A person has a name here only as a member
 * of the Dock's organization, and an API key only for its owner.
 */
export async function readDockLastStop(
  context: Pick<DockContext, 'db'>,
  caller: Visitor,
  id: string,
): Promise<DockLastStop> {
  const { organizationId, state } = await requireDock(context, caller, id)
  const { rows } = await sql<RecordedStop>`
    select c.at, c.to_state as "toState", c.cause, u.name as person, m.user_id is not null as "isKnown",
      k.name as "keyName", exists (select 1 from dock_memory_shortages s where s.dock_id = ${id} and s.process is null
        and s.at between c.at - interval '10 minutes' and c.at + interval '1 minute') as "ranOutOfMemory"
    from (select at, to_state, cause,
        case when cause ->> 'by' like 'user:%' then substr(cause ->> 'by', 6)::uuid end as user_id
      from dock_state_changes where dock_id = ${id} and organization_id = ${organizationId}
        and to_state in (${sql.join(shownStates(state).map((shown) => sql.lit(shown)))})
      order by id desc limit 1) c
    left join users u on u.id = c.user_id and u.erased_at is null
    left join memberships m on m.user_id = c.user_id and m.organization_id = ${organizationId}
    left join api_keys k on k.id = (c.cause ->> 'apiKeyId')::uuid and k.user_id = ${caller.userId}`.execute(
    context.db,
  )
  const stop = rows[0]
  if (!stop) return { lastStop: null }
  const [reason, by] = [stopReasonOf(stop), actorOf(stop)]
  return { lastStop: { reason, by, at: stop.at.toISOString(), message: stopSentence(reason, by, stop) } }
}
