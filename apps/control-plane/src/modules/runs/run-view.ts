import type { Run } from '@dock/contract'
import type { ShownRun } from './run-store.ts'

/** Returns how an entry of the audit log names the Run. */
export function targetOf({
  id,
  repo,
  issueNumber,
  organizationId,
}: Pick<ShownRun, 'id' | 'repo' | 'issueNumber' | 'organizationId'>) {
  return { organizationId, target: { type: 'run', id, name: `${repo}#${issueNumber}` } }
}

/** Returns the Run as callers see it. */
export function viewRun(run: ShownRun): Run {
  return {
    id: run.id,
    installationId: run.installationId,
    workspaceId: run.workspaceId,
    organizationId: run.organizationId,
    repo: run.repo,
    issueNumber: run.issueNumber,
    dockId: run.dockId,
    executionTarget: run.executionTarget,
    state: run.state,
    prNumber: run.prNumber,
    prUrl: run.prUrl,
    failureReason: run.failureReason,
    agent: run.agent,
    branch: run.branch,
    baseBranch: run.baseBranch,
    promptVersion: run.promptVersion,
    testCommand: run.testCommand,
    completionStatus: run.completionStatus,
    events: run.events,
    createdAt: run.createdAt.toISOString(),
    updatedAt: run.updatedAt.toISOString(),
  }
}
