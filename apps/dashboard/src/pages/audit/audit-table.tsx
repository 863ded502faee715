import type { AuditEntry } from '@dock/sdk'
import { auditActor, auditMeansWords, auditSentence } from '@dock/sdk/audit-words'
import { Badge } from '../../components/badge.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { visibleName } from '../../lib/visible-text.ts'
import { TargetLink } from './target-link.tsx'
import type { ExistingTargets } from './use-existing-targets.ts'

/** Entries of an audit log. That of the instance also names the organization of each. */
export function AuditTable(props: {
  entries: readonly AuditEntry[]
  organizationId: string | null
  existing: ExistingTargets
}) {
  const { entries, organizationId, existing } = props
  const isOfInstance = organizationId === null
  return (
    // On a narrow page, who acted stands before what they did, so that both are in view.
    <div className="grid grid-cols-[minmax(0,1fr)] max-sm:[&_:is(th,td):nth-child(2)]:hidden">
      <Table
        label="Entries"
        columns={['Time', 'Who', 'What', 'Target', ...(isOfInstance ? ['Organization'] : []), 'Through']}
      >
        {entries.map((entry) => (
          <Row key={entry.id}>
            <Cell className="whitespace-nowrap text-muted">
              <RelativeTime at={entry.at} />
            </Cell>
            <Cell className="min-w-36 max-w-56">
              <Who entry={entry} />
            </Cell>
            <Cell className="min-w-56">
              <bdi className="font-medium sm:hidden">{visibleName(auditActor(entry))} </bdi>
              <bdi>{visibleName(auditSentence(entry))}</bdi>
              {entry.outcome === 'failed' && (
                <span className="ml-2">
                  <Badge tone="bad">failed</Badge>
                </span>
              )}
            </Cell>
            <Cell className="min-w-32 max-w-64">
              <TargetLink entry={entry} organizationId={organizationId} existing={existing} />
            </Cell>
            {isOfInstance && (
              <Cell className="min-w-32 max-w-56">
                <Organization entry={entry} />
              </Cell>
            )}
            <Cell className="whitespace-nowrap">
              {/* A newer service may have means that are not known here. */}
              {auditMeansWords[entry.through] ?? entry.through}
              {entry.address !== null && (
                <span className="block font-mono text-xs text-muted">{visibleName(entry.address)}</span>
              )}
            </Cell>
          </Row>
        ))}
      </Table>
    </div>
  )
}

function Who({ entry }: { entry: AuditEntry }) {
  const name = auditActor(entry)
  const email = entry.actor?.email
  return (
    <>
      <bdi className="font-medium">{visibleName(name)}</bdi>
      {email && email !== name && (
        <bdi className="block truncate text-xs text-muted" title={email}>
          {visibleName(email)}
        </bdi>
      )}
    </>
  )
}

function Organization({ entry: { organizationId, organizationName } }: { entry: AuditEntry }) {
  if (organizationName !== null) return <bdi>{visibleName(organizationName)}</bdi>
  if (organizationId === null) return null
  return (
    <span className="text-muted" title={organizationId}>
      deleted, <span className="font-mono text-xs">{organizationId.slice(0, 8)}</span>
    </span>
  )
}
