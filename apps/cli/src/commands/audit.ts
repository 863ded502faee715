/** Who did what, from the audit log of an organization or of the instance. */
import type { AuditEntry, Client } from '@dock/sdk'
import { auditActions, auditActor, auditKinds, auditMeansWords, auditSentence } from '@dock/sdk/audit-words'
import { isId, pick } from '../docks/pick.ts'
import { readTime } from '../docks/read-time.ts'
import { findOrganization, organizationFlag } from '../docks/workspaces.ts'
import { askToReplace, saveStream } from '../output/save-stream.ts'
import { writeTo } from '../output/write-to.ts'
import { suggestion } from '../program/closest-name.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'

const pageMax = 100
const limitDefault = 50

type Filter = { action?: string; actorId?: string; targetId?: string; since?: string; until?: string }

const actionNames = [...Object.keys(auditKinds), ...auditActions]

const readAction = (action: string): string => {
  if (actionNames.includes(action)) return action
  throw new UsageError(
    `There is no action ${JSON.stringify(action)}.${suggestion(action, actionNames)} --action takes an action such as member.removed, or a kind: ${Object.keys(auditKinds).join(', ')}.`,
  )
}

/** Returns the id of a member; of anybody who is not one any more, by the id alone. */
const findPerson = async (client: Client, organizationId: string | null, text: string): Promise<string> => {
  if (isId(text)) return text.toLowerCase()
  if (organizationId === null) throw new UsageError('With --instance, --actor takes the id of a person.')
  const members = await client.call('listMembers', { params: { id: organizationId } })
  return pick(
    'member',
    members.map(({ userId, email }) => ({ id: userId, email })),
    text,
    ({ email }) => [email],
  ).id
}

const readFilter = async (client: Client, organizationId: string | null, input: Input): Promise<Filter> => {
  const [action, actor, target] = [input.text('action'), input.text('actor'), input.text('target')]
  const [since, until] = [input.text('since'), input.text('until')]
  return {
    ...(action === undefined ? {} : { action: readAction(action) }),
    ...(since === undefined ? {} : { since: readTime('since', since) }),
    ...(until === undefined ? {} : { until: readTime('until', until) }),
    ...(target === undefined ? {} : { targetId: target }),
    ...(actor === undefined ? {} : { actorId: await findPerson(client, organizationId, actor) }),
  }
}

const readEntries = async (
  client: Client,
  organizationId: string | null,
  filter: Filter,
  wanted: number,
): Promise<AuditEntry[]> => {
  const found: AuditEntry[] = []
  for (let cursor: string | undefined; ; ) {
    const query = { ...filter, limit: Math.min(pageMax, wanted - found.length), cursor }
    const { entries, nextCursor } =
      organizationId === null
        ? await client.call('listInstanceAudit', { query })
        : await client.call('listAudit', { params: { id: organizationId }, query })
    found.push(...entries)
    if (nextCursor === null || found.length >= wanted) return found
    cursor = nextCursor
  }
}

const exportEntries = async (
  context: Context,
  organizationId: string | null,
  query: Filter,
  file: string,
): Promise<void> => {
  const client = await context.client()
  if (file !== '-') await askToReplace(context, file)
  const { body } =
    organizationId === null
      ? await client.open('exportInstanceAudit', { query })
      : await client.open('exportAudit', { params: { id: organizationId }, query })
  if (!body) return
  if (file === '-') {
    for await (const bytes of body) await writeTo(context.out.stdout, bytes)
    return
  }
  await context.out.wait(`Saving ${file}`, saveStream(body, file))
  context.out.result({ file }, () => context.out.note(`Saved ${file}.`))
}

const throughOf = ({ through, address }: AuditEntry): string => {
  // A newer service may have means that are not known here.
  const means = auditMeansWords[through] ?? through
  return address === null ? means : `${means}, ${address}`
}

export const audit: Command = {
  path: ['audit'],
  summary: 'Show who did what, newest first; for owners of the organization',
  details:
    'ACTION is an action such as member.removed, or its kind: member. PERSON is the email address or the id of a member. ID is\nthe id of what was changed. TIME is 2026-11-30 or 2026-11-30T09:00Z, in UTC if it names no zone, or so long ago: 7d, 24h.',
  flags: [
    organizationFlag,
    { name: 'instance', about: 'the log of the whole instance; for its admins' },
    {
      name: 'action',
      value: 'ACTION',
      about: 'only this action, or this kind of action',
      offers: actionNames,
    },
    { name: 'actor', value: 'PERSON', about: 'only what this person did' },
    { name: 'target', value: 'ID', about: 'only what was done to this' },
    { name: 'since', value: 'TIME', about: 'only from this time on' },
    { name: 'until', value: 'TIME', about: 'only before this time' },
    { name: 'limit', value: 'N', about: `how many entries at most; without it ${limitDefault}` },
    { name: 'export', value: 'FILE', about: 'save all entries as JSON lines; - is standard output' },
  ],
  examples: [
    'dock audit --since 7d --action member',
    'dock audit --actor ada@example.com --json',
    'dock audit --export audit.jsonl',
  ],
  async run(context, input) {
    const [limit, file] = [input.integer('limit'), input.text('export')]
    if (input.has('instance') && input.has('org'))
      throw new UsageError('--instance is the log of all organizations. Leave out --org.')
    if (limit === 0) throw new UsageError('--limit must be at least 1.')
    if (limit !== undefined && file !== undefined)
      throw new UsageError('--export saves all entries. Leave out --limit, or choose a time with --since.')
    const client = await context.client()
    const organizationId = input.has('instance')
      ? null
      : (await findOrganization(client, input.text('org'))).id
    const filter = await readFilter(client, organizationId, input)
    if (file !== undefined) return exportEntries(context, organizationId, filter, file)
    const reading = readEntries(client, organizationId, filter, limit ?? limitDefault)
    const entries = await context.out.wait('Reading', reading)
    context.out.list(
      entries,
      {
        TIME: ({ at }) => at.replace(/\.\d+Z$/, 'Z'),
        WHO: (each) => each.actor?.email ?? auditActor(each),
        WHAT: auditSentence,
        TARGET: ({ target }) => target?.id ?? '–',
        THROUGH: throughOf,
        OUTCOME: ({ outcome }) => outcome,
        ...(organizationId === null
          ? { ORGANIZATION: (each: AuditEntry) => each.organizationName ?? each.organizationId ?? '–' }
          : {}),
      },
      {
        ids: entries.map(({ id }) => id),
        empty: 'There is no such entry.',
        text: [1, 2],
        colours: (text, column) => (column === 5 && text === 'failed' ? 'red' : undefined),
      },
    )
  },
}
