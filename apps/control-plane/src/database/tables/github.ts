/** Tables of the GitHub App, linked repositories and received webhooks (migration 066). */
import type { ColumnType, Generated } from 'kysely'
import type { NullableTimestamp } from './accounts.ts'

export type GithubTables = {
  github_apps: {
    id: string
    instance_id: string
    app_id: number
    slug: string
    url: string
    client_id: string
    sealed_client_secret: string
    sealed_webhook_secret: string
    sealed_private_key: string
    created_at: ColumnType<Date, Date, never>
  }
  github_installations: {
    id: string
    provider_installation_id: number
    organization_id: string
    workspace_id: string
    created_by: string
    agent: string
    test_command: string | null
    created_at: ColumnType<Date, Date, never>
    updated_at: Date
  }
  github_installation_settings: {
    installation_id: string
    execution_target: 'dock' | 'fast'
    environment_id: string | null
    budget_cents: number
    timeout_seconds: number
    label: string | null
    model: string | null
    command_template: string | null
    allow_workflow_files: boolean
  }
  github_repositories: {
    repository_id: number
    installation_id: string
    full_name: string
    default_branch: string
    linked_at: ColumnType<Date, Date, never>
  }
  github_states: {
    hash: Buffer
    purpose: 'manifest' | 'link' | 'selection'
    user_id: string
    workspace_id: string | null
    /** A JSON list of repositories. */
    proven: ColumnType<unknown, string | null, never>
    created_at: ColumnType<Date, Date, never>
    expires_at: ColumnType<Date, Date, never>
  }
  github_webhooks: {
    id: string
    delivery_id: string
    event: string
    body: Buffer | null
    received_at: ColumnType<Date, Date, never>
    attempts: Generated<number>
    next_attempt_at: Date
    is_leased: Generated<boolean>
    processed_at: NullableTimestamp
    outcome: string | null
  }
  github_triggers: {
    repository_id: number
    key: string
    provider_installation_id: number
    at: ColumnType<Date, Date, never>
    outcome: string
  }
}
