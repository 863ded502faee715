/** Tables of GitHub Runs (migration 068). */
import type { RunEventType, RunState } from '@dock/contract'
import type { ColumnType, Generated } from 'kysely'
import type { NullableTimestamp } from './accounts.ts'

export type RunsTable = {
  id: string
  organization_id: string
  workspace_id: string
  installation_id: string
  provider_installation_id: number
  repository_id: number
  repo: string
  issue_number: number
  created_by: string
  execution_target: 'dock' | 'fast'
  state: RunState
  dock_id: string | null
  branch: string
  base_branch: string
  base_commit: string | null
  pr_number: number | null
  pr_url: string | null
  failure_reason: string | null
  agent: string
  test_command: string | null
  prompt_version: string | null
  completion_status: string | null
  settings: unknown
  turn: Generated<number>
  stop_reason: string | null
  is_merged: Generated<boolean>
  comment_id: number | null
  check_run_id: number | null
  door_open: Generated<boolean>
  archive_at: NullableTimestamp
  session_sealed: Generated<string | null>
  created_at: ColumnType<Date, Date, never>
  updated_at: Date
}

export type RunEventsTable = {
  id: Generated<number>
  run_id: string
  type: RunEventType
  at: ColumnType<Date, Date, never>
}

export type RunTurnsTable = {
  id: string
  run_id: string
  number: number
  repository_id: number
  trigger_key: string
  actor: string
  instruction: string
  text: unknown
  has_outsider_text: boolean
  has_new_machine: Generated<boolean>
  report: string | null
  completion_status: string | null
  input_tokens: Generated<number>
  output_tokens: Generated<number>
  cost_micro_usd: Generated<number>
  log_bytes: Generated<number>
  source_bytes: Generated<number>
  started_at: NullableTimestamp
  ended_at: NullableTimestamp
  created_at: ColumnType<Date, Date, never>
}

export type RunLogsTable = { turn_id: string; at_byte: number; text: string }

export type RunTables = {
  runs: RunsTable
  run_events: RunEventsTable
  run_turns: RunTurnsTable
  run_logs: RunLogsTable
}
