/** The interface to the module `runs`, which runs coding agents: this module calls it when GitHub reports something. */
import type { Db, Tx } from '../../database/database.ts'
import type { RunText } from './api/issue-text.ts'
import type { LinkedRepository } from './linked-repository.ts'

export type Actor = { id: number; login: string }

/** A person with write access asked for work. Everything in it is as it stood at that moment. */
export type RunTrigger = {
  repository: LinkedRepository
  issueNumber: number
  kind: 'mention' | 'label' | 'review' | 'hand'
  /** Unique in the repository forever: `comment:123`. */
  key: string
  actor: Actor
  /** What the person wrote. Empty for a label. */
  instruction: string
  text: RunText
}

/** Something happened that concerns a Run that exists already. */
export type RunSignal =
  | { kind: 'feedback'; pullRequestNumber: number; trigger: RunTrigger }
  /** `number` is that of the issue or of the pull request. */
  | { kind: 'stop'; repository: LinkedRepository; number: number; actor: Actor }
  | { kind: 'issue_closed'; repository: LinkedRepository; issueNumber: number }
  | { kind: 'merged' | 'closed'; repository: LinkedRepository; pullRequestNumber: number }
  | { kind: 'unlinked'; installationId: string; repositoryIds: number[] }

/**
 * Receives triggers and signals. The first two functions run in the transaction that records the trigger: they neither
 * call GitHub nor seal.
 */
export type RunSink = {
  /** `exists`: the issue has a live Run. */
  startRun(
    tx: Tx,
    trigger: RunTrigger,
  ): Promise<{ outcome: 'started' | 'exists' | 'refused'; runId: string | null }>
  /** Returns false if no Run is concerned. */
  signalRun(tx: Tx, signal: RunSignal): Promise<boolean>
  /** True if a Run has made this pull request and may still get feedback. */
  isRunPullRequest(db: Db, repository: LinkedRepository, pullRequestNumber: number): Promise<boolean>
  /** Called after the commit. */
  wake(): void
}
