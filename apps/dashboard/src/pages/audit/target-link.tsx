import type { AuditEntry } from '@dock/sdk'
import { auditTarget, isOwn } from '@dock/sdk/audit-words'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { visibleName } from '../../lib/visible-text.ts'
import type { ExistingTargets } from './use-existing-targets.ts'

const linkClass = 'text-accent underline'

const typeNames: Readonly<Record<string, string>> = {
  api_key: 'API key',
  ssh_key: 'SSH key',
  dock: 'Dock',
  environment: 'Environment',
  run: 'Run',
  snapshot: 'Snapshot',
  template: 'Template',
}

/** What an entry changed, as a link to its page if it still exists. */
export function TargetLink(props: {
  entry: AuditEntry
  organizationId: string | null
  existing: ExistingTargets
}) {
  const { entry, existing } = props
  const { target } = entry
  const name = auditTarget(entry)
  if (target === null || name === null || isOwn(entry)) return null
  const text = <bdi>{visibleName(name)}</bdi>
  const isThere = target.id !== null && existing[target.type]?.has(target.id)
  return (
    <>
      {isThere ? (
        <PageLink type={target.type} id={target.id ?? ''} orgId={props.organizationId}>
          {text}
        </PageLink>
      ) : (
        text
      )}
      <span className="block text-xs text-muted">
        {typeNames[target.type] ?? target.type.replaceAll('_', ' ')}
      </span>
    </>
  )
}

function PageLink(props: { type: string; id: string; orgId: string | null; children: ReactNode }) {
  const { type, id, children } = props
  const orgId = props.orgId ?? id
  switch (type) {
    case 'dock':
      return (
        <Link to="/docks/$id" params={{ id }} search={{}} className={linkClass}>
          {children}
        </Link>
      )
    case 'environment':
      return (
        <Link to="/environments/$id" params={{ id }} search={{}} className={linkClass}>
          {children}
        </Link>
      )
    case 'webhook':
      return (
        <Link to="/webhooks/$id" params={{ id }} search={{ organization: orgId }} className={linkClass}>
          {children}
        </Link>
      )
    case 'host':
      return (
        <Link to="/hosts/$id" params={{ id }} className={linkClass}>
          {children}
        </Link>
      )
    case 'template':
      return (
        <Link to="/templates" className={linkClass}>
          {children}
        </Link>
      )
    case 'workspace':
      return (
        <Link to="/organization/$orgId/workspaces" params={{ orgId }} className={linkClass}>
          {children}
        </Link>
      )
    case 'person':
      return (
        <Link to="/organization/$orgId/members" params={{ orgId }} className={linkClass}>
          {children}
        </Link>
      )
    default:
      return (
        <Link to="/organization/$orgId/settings" params={{ orgId: id }} className={linkClass}>
          {children}
        </Link>
      )
  }
}
