/** The types of all tables. script/generate-table-types writes this file from the migrated database. */
import type { AlertType, DeliveredEventType, DockState, KeyProvider, Role, RunEventType, RunState, RuntimeName, WebhookEventType } from '@dock/contract'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { GatheredAlerts } from './column-types.ts'

export type Database = {
  api_keys: {
    id: Generated<string>
    user_id: string
    name: string
    key_prefix: string
    key_hash: Buffer
    dock_id: string | null
    expires_at: Date | null
    revoked_at: Date | null
    last_used_at: Date | null
    created_at: Generated<Date>
  }
  assistant_connections: {
    id: string
    user_id: string
    sealed_tokens: string
    email: string | null
    plan_type: string | null
    expires_at: Date | null
    updated_at: Date
  }
  audit_entries: {
    id: Generated<string>
    at: Date
    organization_id: string | null
    is_copy: Generated<boolean>
    action: string
    outcome: Generated<'succeeded' | 'failed'>
    actor_id: string | null
    through: 'session' | 'api_key' | 'dock_key' | 'ssh_key' | 'operator' | 'platform'
    credential_id: string | null
    address: string | null
    target_type: string | null
    target_id: string | null
    target_name: string | null
    details: ColumnType<unknown, string | undefined, string>
  }
  billing_accounts: {
    organization_id: string
    customer_id: string | null
    subscription_id: string | null
    attempt: Generated<number>
    version: Generated<number>
    created_at: Date
    renew: Generated<boolean>
  }
  copies: {
    id: string
    organization_id: string
    snapshot_id: string
    disk_bytes: Generated<number>
    index_parts: Generated<number>
    added_bytes: Generated<number>
    verified_at: Date | null
    lease_owner: string
    lease_until: Date
    created_at: Date
    drilled_at: Date | null
    damaged_at: Date | null
  }
  copy_chunk_uses: {
    copy_id: string
    organization_id: string
    name: string
  }
  copy_chunks: {
    organization_id: string
    name: string
    object_key: string
    size_bytes: number
    used_at: Date
  }
  copy_keys: {
    organization_id: string
    secret: string
    created_at: Date
  }
  data_keys: {
    id: string
    owner_kind: 'organization' | 'person' | 'instance'
    owner_id: string
    ring_key_id: string
    wrapped: Buffer
    retired_at: Date | null
    created_at: Date
  }
  device_codes: {
    id: string
    device_code_hash: Buffer
    user_code_hash: Buffer
    machine_name: string
    client_address: string
    interval_seconds: number
    next_poll_at: Date
    user_id: string | null
    decision: 'approved' | 'denied' | null
    created_at: Date
    expires_at: Date
  }
  device_sign_ins: {
    id: string
    user_id: string
    sealed_device_code: string
    interval_seconds: number
    next_poll_at: Date
    expires_at: Date
  }
  dock_events: {
    id: string
    type: string
    dock_id: string
    dock_state: DockState
    organization_id: string
    workspace_id: string
    occurred_at: Date
  }
  dock_memory_shortages: {
    id: GeneratedAlways<number>
    dock_id: string
    generation: number
    process: string | null
    count: number
    at: Date
  }
  dock_ports: {
    dock_id: string
    organization_id: string
    port: number
    label: string
    created_at: Date
    keeps_host: Generated<boolean>
  }
  dock_state_changes: {
    id: GeneratedAlways<number>
    dock_id: string
    organization_id: string
    from_state: DockState | null
    to_state: DockState
    cause: ColumnType<unknown, string, string>
    at: Date
  }
  dock_usage: {
    dock_id: string
    minute: Date
    samples: number
    cpu_percent_sum: number
    cpu_percent_peak: number
    mem_bytes_sum: number
    mem_bytes_peak: number
    mem_limit_sum: number
    mem_limit_peak: number
    disk_bytes_sum: number
    disk_bytes_peak: number
    rx_bytes_sum: number
    rx_bytes_peak: number
    tx_bytes_sum: number
    tx_bytes_peak: number
  }
  docks: {
    id: string
    organization_id: string
    workspace_id: string
    name: string
    image: string
    cpus: number
    memory_mib: number
    disk_gib: number
    runtime: RuntimeName
    state: DockState
    state_changed_at: Date
    generation: number
    ttl_seconds: number | null
    stop_at: Date | null
    environment: string
    no_env: boolean
    from_template: string | null
    ip: string | null
    host_id: string | null
    placed: boolean
    has_disk: boolean
    billing_paused_at: Date | null
    setup_status: 'pending' | 'running' | 'done' | 'failed'
    setup_error: string | null
    last_snapshot_at: Date | null
    recoveries: Generated<Date[]>
    created_by: string
    created_at: Date
    updated_at: Date
    disk_alert: 'disk_warning' | 'disk_full' | null
    env_sealed: string | null
    setup_script_sealed: string | null
    ready_at: Date | null
    active_at: Date | null
    kept_cpus: number | null
    kept_memory_mib: number | null
    environment_id: string | null
    environment_version: number | null
    env_passes: Generated<boolean>
    marks: Generated<string[]>
    image_version: string | null
  }
  ended_copies: {
    id: string
    begun_at: Date
  }
  environment_versions: {
    id: Generated<string>
    environment_id: string
    version: number
    safe_for_third_parties: Generated<boolean>
    pass_github: Generated<boolean>
    pass_secrets: Generated<boolean>
    pass_dock_credentials: Generated<boolean>
    pass_agents_credentials: Generated<boolean>
    created_at: Generated<Date>
    organization_id: string
    bundle_sealed: string | null
    var_names: Generated<string[]>
    files: ColumnType<unknown, string | undefined, string>
    repositories: ColumnType<unknown, string | undefined, string>
    repository_adders: ColumnType<unknown, string | undefined, string>
    bundle_cleared_at: Date | null
  }
  environments: {
    id: Generated<string>
    organization_id: string
    name: string
    is_default: Generated<boolean>
    current_version: Generated<number>
    secrets_access: Generated<'members' | 'admins'>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  erasures: {
    kind: 'person' | 'organization'
    id: string
    erased_at: Generated<Date>
  }
  exec_keys: {
    dock_id: string
    key: string
    created_at: Date
    id: Generated<string>
    organization_id: string
    outcome_sealed: string | null
    outcome_bytes: GeneratedAlways<number | null>
  }
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
    created_at: Date
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
  github_installations: {
    id: string
    provider_installation_id: number
    organization_id: string
    workspace_id: string
    created_by: string
    agent: string
    test_command: string | null
    created_at: Date
    updated_at: Date
  }
  github_repositories: {
    repository_id: number
    installation_id: string
    full_name: string
    default_branch: string
    linked_at: Date
  }
  github_states: {
    hash: Buffer
    purpose: 'manifest' | 'link' | 'selection'
    user_id: string
    workspace_id: string | null
    proven: ColumnType<unknown, string | null, string | null>
    created_at: Date
    expires_at: Date
  }
  github_triggers: {
    repository_id: number
    key: string
    provider_installation_id: number
    at: Date
    outcome: string
  }
  github_webhooks: {
    id: string
    delivery_id: string
    event: string
    body: Buffer | null
    received_at: Date
    attempts: Generated<number>
    next_attempt_at: Date
    processed_at: Date | null
    outcome: string | null
    is_leased: Generated<boolean>
  }
  host_orders: {
    host_id: string
    kind: 'dock' | 'start' | 'capture'
    thing_id: string
    generation: Generated<number>
    created_at: Date
  }
  hosts: {
    id: string
    address: string
    credential_hash: Buffer
    runtime: RuntimeName
    cpu_family: string
    kernel: string
    kernel_release: string | null
    boot_id: string
    vcpu_total: number
    mem_total_bytes: number
    disk_total_bytes: number
    max_docks: number
    images: string[]
    state: 'online' | 'offline'
    mem_available_bytes: Generated<number>
    disk_free_bytes: Generated<number>
    running_docks: Generated<number>
    reserved_cpus: Generated<number>
    reserved_memory_mib: Generated<number>
    reserved_disk_gib: Generated<number>
    reserved_slots: Generated<number>
    orphans: ColumnType<unknown, string | undefined, string>
    last_heartbeat_at: Date | null
    created_at: Date
    held_hash: Buffer | null
    image_versions: ColumnType<unknown, string | undefined, string>
    checked_epoch: Generated<number>
    lost_at: Date | null
    declared_lost_at: Date | null
    is_builder: Generated<boolean>
    sandbox_headroom_mib: Generated<number>
    runtime_release: ColumnType<unknown, string | null, string | null>
    is_emulated: Generated<boolean>
  }
  idempotency_keys: {
    organization_id: string
    key: string
    fingerprint: Buffer
    dock_id: string
    operation_id: string
    created_at: Date
  }
  image_versions: {
    id: string
    name: string
    built_as: string
    digest: string | null
    created_at: Date
  }
  instance_epoch: {
    one: Generated<boolean>
    epoch: Generated<number>
    begun_at: Date | null
    objects_checked: Generated<number>
    copies_checked: Generated<number>
  }
  instance_starts: {
    id: string
    mark: Generated<number>
    started_at: Date
  }
  invitations: {
    id: string
    organization_id: string
    email: string
    role: Role
    token_hash: Buffer
    expires_at: Date
    created_at: Date
    invited_by: string | null
    signed_up_at: Date | null
  }
  join_tokens: {
    hash: Buffer
    expires_at: Date
    used_at: Date | null
    created_at: Date
    for_builder: Generated<boolean>
  }
  ledger_calendar: {
    one: Generated<boolean>
    closed_until: Date
  }
  ledger_days: {
    organization_id: string
    day: Date
    vcpu_us: string
    memory_mib_us: string
    disk_gib_us: string
    snapshot_byte_us: string
    plan: string | null
    currency: string | null
    prices: ColumnType<unknown, string | null, string | null>
    cost_micros: number
    closed_at: Date
  }
  ledger_docks: {
    organization_id: string
    day: Date
    dock_id: string
    vcpu_us: string
    memory_mib_us: string
    disk_gib_us: string
    snapshot_byte_us: string
  }
  ledger_reports: {
    organization_id: string
    day: Date
    state: 'sending' | 'sent' | 'unclear'
    first_tried_at: Date
  }
  live_changes: {
    id: GeneratedAlways<number>
    transaction_id: Generated<string>
    organization_id: string | null
    user_id: string | null
    for_admins: Generated<boolean>
    kind: string
    subject_id: string
    dock_id: string | null
    at: Generated<Date>
  }
  live_pruned: {
    is_only: Generated<boolean>
    transaction_id: string
  }
  login_accounts: {
    id: Generated<string>
    user_id: string
    account_id: string
    provider_id: string
    access_token: string | null
    refresh_token: string | null
    id_token: string | null
    access_token_expires_at: Date | null
    refresh_token_expires_at: Date | null
    scope: string | null
    password: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
    grant_sealed: string | null
  }
  memberships: {
    organization_id: string
    user_id: string
    role: Role
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  notifications: {
    id: Generated<string>
    user_id: string
    organization_id: string
    event_id: string
    type: AlertType
    title: string
    body: string
    dock_id: string
    read_at: Date | null
    occurred_at: Date
  }
  operations: {
    id: string
    organization_id: string
    kind: string
    target_type: 'dock' | 'snapshot' | 'template' | 'environment' | 'run'
    target_id: string
    dock_id: string | null
    host_id: string | null
    generation: number
    status: 'pending' | 'processing' | 'blocked' | 'completed'
    step: string | null
    undoing: Generated<boolean>
    data: ColumnType<unknown, string, string>
    cause: ColumnType<unknown, string, string>
    error: ColumnType<unknown, string | null, string | null>
    driven: Generated<boolean>
    lease_owner: string | null
    lease_until: Date | null
    created_at: Date
    updated_at: Date
    waits_for: string | null
  }
  ordered_stops: {
    dock_id: string
    generation: number
    ordered_by: string
    attempts: Generated<number>
    next_attempt_at: Date
  }
  organization_alert_settings: {
    organization_id: string
    type: AlertType
    enabled: boolean
  }
  organization_limits: {
    organization_id: string
    docks: number | null
    cpus: number | null
    memory_mib: number | null
    disk_gib: number | null
    stored_gib: number | null
    snapshots: number | null
    environments: number | null
    repositories: number | null
    templates: number | null
    workspaces: number | null
  }
  organization_plans: {
    organization_id: string
    active: boolean
    plan: string
    subscribed: Generated<boolean>
    spent_month: Date | null
    spent_micros: Generated<number>
  }
  organization_storage: {
    organization_id: string
    snapshots: number
    stored_bytes: number
    result_bytes: Generated<number>
  }
  organizations: {
    id: Generated<string>
    name: string
    slug: string
    seats: Generated<number>
    created_at: Generated<Date>
    updated_at: Generated<Date>
    deleted_at: Date | null
    retention_enabled: Generated<boolean>
    retention_since: Date | null
    made_by: string | null
  }
  outbox_mails: {
    id: Generated<string>
    recipient: string
    subject: string
    body: string
    attempts: Generated<number>
    next_attempt_at: Generated<Date>
    sent_at: Date | null
    error: string | null
    created_at: Generated<Date>
    link: string | null
    kind: Generated<'account' | 'alert' | 'contact'>
    domain: GeneratedAlways<string | null>
    status: Generated<'pending' | 'sent' | 'refused' | 'failed'>
    reply_code: number | null
    link_label: string | null
    organization_id: string | null
    organization_name: string | null
    user_id: string | null
    alert_type: AlertType | null
    gather_key: string | null
    gathered: ColumnType<GatheredAlerts | null, string | null, string | null>
  }
  personal_alert_settings: {
    user_id: string
    type: AlertType
    email_enabled: boolean
  }
  plans: {
    name: string
    currency: string
    docks_max: number | null
    fast_runs_max: number | null
    budget_micros: number | null
    vcpu_second: string
    memory_gib_second: string
    disk_gib_month: string
    snapshot_gib_month: string
    retired: Generated<boolean>
  }
  provider_keys: {
    id: string
    organization_id: string
    provider: KeyProvider
    sealed_key: string
    updated_at: Date
  }
  quarantine: {
    id: string
    host_id: string | null
    kind: 'dock' | 'capture' | 'objects'
    thing_id: string
    generation: Generated<number>
    organization_id: string | null
    dock_id: string | null
    note: ColumnType<unknown, string | null, string | null>
    size_bytes: number | null
    disk_bytes: number | null
    state: 'found' | 'held' | 'adopted' | 'deleted'
    first_seen_at: Date
    decided_at: Date | null
    decided_by: string | null
  }
  removed_images: {
    digest: string
    name: string
    removed_at: Date
  }
  run_events: {
    id: GeneratedAlways<number>
    run_id: string
    type: RunEventType
    at: Date
  }
  run_logs: {
    turn_id: string
    at_byte: number
    text: string
  }
  run_machines: {
    id: string
    run_id: string
    organization_id: string
    workspace_id: string
    turn: number
    hostname: string
    image: string
    image_version: string | null
    cpus: number
    memory_mib: number
    disk_gib: number
    runtime: RuntimeName
    host_id: string
    generation: Generated<number>
    state: 'starting' | 'running' | 'ended'
    state_changed_at: Date
    placed: boolean
    ip: string | null
    environment: string
    environment_id: string | null
    environment_version: number | null
    env_passes: boolean
    marks: string[]
    no_env: boolean
    created_by: string
    created_at: Date
  }
  run_turns: {
    id: string
    run_id: string
    number: number
    repository_id: number
    trigger_key: string
    actor: string
    instruction: string
    text: ColumnType<unknown, string, string>
    has_outsider_text: boolean
    report: string | null
    completion_status: string | null
    input_tokens: Generated<number>
    output_tokens: Generated<number>
    cost_micro_usd: Generated<number>
    log_bytes: Generated<number>
    started_at: Date | null
    ended_at: Date | null
    created_at: Date
    source_bytes: Generated<number>
    has_new_machine: Generated<boolean>
  }
  runs: {
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
    settings: ColumnType<unknown, string, string>
    turn: Generated<number>
    stop_reason: string | null
    comment_id: number | null
    check_run_id: number | null
    door_open: Generated<boolean>
    archive_at: Date | null
    created_at: Date
    updated_at: Date
    is_merged: Generated<boolean>
    session_sealed: string | null
  }
  schema_migrations: {
    number: number
    name: string
    checksum: string
    applied_at: Generated<Date>
  }
  sessions: {
    id: Generated<string>
    user_id: string
    token: string
    expires_at: Date
    ip_address: string | null
    user_agent: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  snapshot_restores: {
    snapshot_id: string
    host_id: string
    state: 'restoring' | 'kept'
    updated_at: Date
  }
  snapshots: {
    id: string
    dock_id: string
    organization_id: string
    status: 'saving' | 'completed' | 'failed'
    size_bytes: Generated<number>
    runtime: RuntimeName | null
    host_id: string | null
    disk_gib: number
    created_at: Date
    copied_at: Date | null
    used_at: Date | null
    lost_at: Date | null
    number: number
    after_power_cut: Generated<boolean>
  }
  ssh_host_keys: {
    id: string
    instance_id: string
    type: 'ssh-ed25519' | 'ecdsa-sha2-nistp256'
    public_key: string
    sealed_private_key: string
    created_at: Date
  }
  ssh_keys: {
    id: string
    user_id: string
    name: string
    public_key: string
    fingerprint: string
    last_used_at: Date | null
    created_at: Date
    proved_at: Date | null
    challenge: string | null
    challenge_expires_at: Date | null
    expires_at: Date | null
  }
  templates: {
    id: string
    organization_id: string
    name: string
    source_dock_id: string | null
    snapshot_id: string | null
    status: 'saving' | 'ready' | 'failed'
    size_bytes: Generated<number>
    image: string
    disk_gib: number
    runtime: RuntimeName
    connectors: Generated<boolean>
    created_at: Date
    updated_at: Date
    created_by: string | null
  }
  terminal_tickets: {
    hash: Buffer
    dock_id: string
    organization_id: string
    user_id: string
    credential_id: string
    expires_at: Date
    process_id: string | null
    process_offset: Generated<number>
  }
  usage_spans: {
    id: GeneratedAlways<number>
    organization_id: string
    dock_id: string
    thing_id: string
    cpus: Generated<number>
    memory_mib: Generated<number>
    disk_gib: Generated<number>
    snapshot_bytes: Generated<number>
    from_at: Date
    until_at: Generated<Date | number>
  }
  users: {
    id: Generated<string>
    name: string
    email: string
    email_verified: Generated<boolean>
    image: string | null
    instance_admin: Generated<boolean>
    closed_at: Date | null
    erased_at: Date | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
    bio: Generated<string>
  }
  verifications: {
    id: Generated<string>
    identifier: string
    value: string
    expires_at: Date
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  vouched_addresses: {
    user_id: string
    email: string
    vouched_by: string | null
    vouched_at: Date
  }
  webhook_attempts: {
    id: string
    delivery_id: string
    endpoint_id: string
    event_id: string
    event: DeliveredEventType
    status: number | null
    error: string | null
    started_at: Date
    finished_at: Date | null
    answer: string | null
  }
  webhook_deliveries: {
    id: string
    endpoint_id: string
    organization_id: string
    event_id: string
    event: DeliveredEventType
    occurred_at: Date
    dock_id: string | null
    dock_state: DockState | null
    workspace_id: string | null
    status: Generated<'pending' | 'sent' | 'failed' | 'cancelled'>
    attempts: Generated<number>
    next_attempt_at: Date
    created_at: Date
  }
  webhook_endpoints: {
    id: string
    organization_id: string
    name: string
    url: string
    events: WebhookEventType[]
    secret_prefix: string
    sealed_secret: string
    sealed_previous_secret: string | null
    previous_secret_until: Date | null
    disabled_at: Date | null
    created_at: Date
    updated_at: Date
  }
  workspaces: {
    id: Generated<string>
    organization_id: string
    name: string
    slug: string
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
}

/** The columns of each table, in their order in the database. */
export const tableColumns = {
  api_keys: ['id', 'user_id', 'name', 'key_prefix', 'key_hash', 'dock_id', 'expires_at', 'revoked_at', 'last_used_at', 'created_at'],
  assistant_connections: ['id', 'user_id', 'sealed_tokens', 'email', 'plan_type', 'expires_at', 'updated_at'],
  audit_entries: ['id', 'at', 'organization_id', 'is_copy', 'action', 'outcome', 'actor_id', 'through', 'credential_id', 'address', 'target_type', 'target_id', 'target_name', 'details'],
  billing_accounts: ['organization_id', 'customer_id', 'subscription_id', 'attempt', 'version', 'created_at', 'renew'],
  copies: ['id', 'organization_id', 'snapshot_id', 'disk_bytes', 'index_parts', 'added_bytes', 'verified_at', 'lease_owner', 'lease_until', 'created_at', 'drilled_at', 'damaged_at'],
  copy_chunk_uses: ['copy_id', 'organization_id', 'name'],
  copy_chunks: ['organization_id', 'name', 'object_key', 'size_bytes', 'used_at'],
  copy_keys: ['organization_id', 'secret', 'created_at'],
  data_keys: ['id', 'owner_kind', 'owner_id', 'ring_key_id', 'wrapped', 'retired_at', 'created_at'],
  device_codes: ['id', 'device_code_hash', 'user_code_hash', 'machine_name', 'client_address', 'interval_seconds', 'next_poll_at', 'user_id', 'decision', 'created_at', 'expires_at'],
  device_sign_ins: ['id', 'user_id', 'sealed_device_code', 'interval_seconds', 'next_poll_at', 'expires_at'],
  dock_events: ['id', 'type', 'dock_id', 'dock_state', 'organization_id', 'workspace_id', 'occurred_at'],
  dock_memory_shortages: ['id', 'dock_id', 'generation', 'process', 'count', 'at'],
  dock_ports: ['dock_id', 'organization_id', 'port', 'label', 'created_at', 'keeps_host'],
  dock_state_changes: ['id', 'dock_id', 'organization_id', 'from_state', 'to_state', 'cause', 'at'],
  dock_usage: ['dock_id', 'minute', 'samples', 'cpu_percent_sum', 'cpu_percent_peak', 'mem_bytes_sum', 'mem_bytes_peak', 'mem_limit_sum', 'mem_limit_peak', 'disk_bytes_sum', 'disk_bytes_peak', 'rx_bytes_sum', 'rx_bytes_peak', 'tx_bytes_sum', 'tx_bytes_peak'],
  docks: ['id', 'organization_id', 'workspace_id', 'name', 'image', 'cpus', 'memory_mib', 'disk_gib', 'runtime', 'state', 'state_changed_at', 'generation', 'ttl_seconds', 'stop_at', 'environment', 'no_env', 'from_template', 'ip', 'host_id', 'placed', 'has_disk', 'billing_paused_at', 'setup_status', 'setup_error', 'last_snapshot_at', 'recoveries', 'created_by', 'created_at', 'updated_at', 'disk_alert', 'env_sealed', 'setup_script_sealed', 'ready_at', 'active_at', 'kept_cpus', 'kept_memory_mib', 'environment_id', 'environment_version', 'env_passes', 'marks', 'image_version'],
  ended_copies: ['id', 'begun_at'],
  environment_versions: ['id', 'environment_id', 'version', 'safe_for_third_parties', 'pass_github', 'pass_secrets', 'pass_dock_credentials', 'pass_agents_credentials', 'created_at', 'organization_id', 'bundle_sealed', 'var_names', 'files', 'repositories', 'repository_adders', 'bundle_cleared_at'],
  environments: ['id', 'organization_id', 'name', 'is_default', 'current_version', 'secrets_access', 'created_at', 'updated_at'],
  erasures: ['kind', 'id', 'erased_at'],
  exec_keys: ['dock_id', 'key', 'created_at', 'id', 'organization_id', 'outcome_sealed', 'outcome_bytes'],
  github_apps: ['id', 'instance_id', 'app_id', 'slug', 'url', 'client_id', 'sealed_client_secret', 'sealed_webhook_secret', 'sealed_private_key', 'created_at'],
  github_installation_settings: ['installation_id', 'execution_target', 'environment_id', 'budget_cents', 'timeout_seconds', 'label', 'model', 'command_template', 'allow_workflow_files'],
  github_installations: ['id', 'provider_installation_id', 'organization_id', 'workspace_id', 'created_by', 'agent', 'test_command', 'created_at', 'updated_at'],
  github_repositories: ['repository_id', 'installation_id', 'full_name', 'default_branch', 'linked_at'],
  github_states: ['hash', 'purpose', 'user_id', 'workspace_id', 'proven', 'created_at', 'expires_at'],
  github_triggers: ['repository_id', 'key', 'provider_installation_id', 'at', 'outcome'],
  github_webhooks: ['id', 'delivery_id', 'event', 'body', 'received_at', 'attempts', 'next_attempt_at', 'processed_at', 'outcome', 'is_leased'],
  host_orders: ['host_id', 'kind', 'thing_id', 'generation', 'created_at'],
  hosts: ['id', 'address', 'credential_hash', 'runtime', 'cpu_family', 'kernel', 'kernel_release', 'boot_id', 'vcpu_total', 'mem_total_bytes', 'disk_total_bytes', 'max_docks', 'images', 'state', 'mem_available_bytes', 'disk_free_bytes', 'running_docks', 'reserved_cpus', 'reserved_memory_mib', 'reserved_disk_gib', 'reserved_slots', 'orphans', 'last_heartbeat_at', 'created_at', 'held_hash', 'image_versions', 'checked_epoch', 'lost_at', 'declared_lost_at', 'is_builder', 'sandbox_headroom_mib', 'runtime_release', 'is_emulated'],
  idempotency_keys: ['organization_id', 'key', 'fingerprint', 'dock_id', 'operation_id', 'created_at'],
  image_versions: ['id', 'name', 'built_as', 'digest', 'created_at'],
  instance_epoch: ['one', 'epoch', 'begun_at', 'objects_checked', 'copies_checked'],
  instance_starts: ['id', 'mark', 'started_at'],
  invitations: ['id', 'organization_id', 'email', 'role', 'token_hash', 'expires_at', 'created_at', 'invited_by', 'signed_up_at'],
  join_tokens: ['hash', 'expires_at', 'used_at', 'created_at', 'for_builder'],
  ledger_calendar: ['one', 'closed_until'],
  ledger_days: ['organization_id', 'day', 'vcpu_us', 'memory_mib_us', 'disk_gib_us', 'snapshot_byte_us', 'plan', 'currency', 'prices', 'cost_micros', 'closed_at'],
  ledger_docks: ['organization_id', 'day', 'dock_id', 'vcpu_us', 'memory_mib_us', 'disk_gib_us', 'snapshot_byte_us'],
  ledger_reports: ['organization_id', 'day', 'state', 'first_tried_at'],
  live_changes: ['id', 'transaction_id', 'organization_id', 'user_id', 'for_admins', 'kind', 'subject_id', 'dock_id', 'at'],
  live_pruned: ['is_only', 'transaction_id'],
  login_accounts: ['id', 'user_id', 'account_id', 'provider_id', 'access_token', 'refresh_token', 'id_token', 'access_token_expires_at', 'refresh_token_expires_at', 'scope', 'password', 'created_at', 'updated_at', 'grant_sealed'],
  memberships: ['organization_id', 'user_id', 'role', 'created_at', 'updated_at'],
  notifications: ['id', 'user_id', 'organization_id', 'event_id', 'type', 'title', 'body', 'dock_id', 'read_at', 'occurred_at'],
  operations: ['id', 'organization_id', 'kind', 'target_type', 'target_id', 'dock_id', 'host_id', 'generation', 'status', 'step', 'undoing', 'data', 'cause', 'error', 'driven', 'lease_owner', 'lease_until', 'created_at', 'updated_at', 'waits_for'],
  ordered_stops: ['dock_id', 'generation', 'ordered_by', 'attempts', 'next_attempt_at'],
  organization_alert_settings: ['organization_id', 'type', 'enabled'],
  organization_limits: ['organization_id', 'docks', 'cpus', 'memory_mib', 'disk_gib', 'stored_gib', 'snapshots', 'environments', 'repositories', 'templates', 'workspaces'],
  organization_plans: ['organization_id', 'active', 'plan', 'subscribed', 'spent_month', 'spent_micros'],
  organization_storage: ['organization_id', 'snapshots', 'stored_bytes', 'result_bytes'],
  organizations: ['id', 'name', 'slug', 'seats', 'created_at', 'updated_at', 'deleted_at', 'retention_enabled', 'retention_since', 'made_by'],
  outbox_mails: ['id', 'recipient', 'subject', 'body', 'attempts', 'next_attempt_at', 'sent_at', 'error', 'created_at', 'link', 'kind', 'domain', 'status', 'reply_code', 'link_label', 'organization_id', 'organization_name', 'user_id', 'alert_type', 'gather_key', 'gathered'],
  personal_alert_settings: ['user_id', 'type', 'email_enabled'],
  plans: ['name', 'currency', 'docks_max', 'fast_runs_max', 'budget_micros', 'vcpu_second', 'memory_gib_second', 'disk_gib_month', 'snapshot_gib_month', 'retired'],
  provider_keys: ['id', 'organization_id', 'provider', 'sealed_key', 'updated_at'],
  quarantine: ['id', 'host_id', 'kind', 'thing_id', 'generation', 'organization_id', 'dock_id', 'note', 'size_bytes', 'disk_bytes', 'state', 'first_seen_at', 'decided_at', 'decided_by'],
  removed_images: ['digest', 'name', 'removed_at'],
  run_events: ['id', 'run_id', 'type', 'at'],
  run_logs: ['turn_id', 'at_byte', 'text'],
  run_machines: ['id', 'run_id', 'organization_id', 'workspace_id', 'turn', 'hostname', 'image', 'image_version', 'cpus', 'memory_mib', 'disk_gib', 'runtime', 'host_id', 'generation', 'state', 'state_changed_at', 'placed', 'ip', 'environment', 'environment_id', 'environment_version', 'env_passes', 'marks', 'no_env', 'created_by', 'created_at'],
  run_turns: ['id', 'run_id', 'number', 'repository_id', 'trigger_key', 'actor', 'instruction', 'text', 'has_outsider_text', 'report', 'completion_status', 'input_tokens', 'output_tokens', 'cost_micro_usd', 'log_bytes', 'started_at', 'ended_at', 'created_at', 'source_bytes', 'has_new_machine'],
  runs: ['id', 'organization_id', 'workspace_id', 'installation_id', 'provider_installation_id', 'repository_id', 'repo', 'issue_number', 'created_by', 'execution_target', 'state', 'dock_id', 'branch', 'base_branch', 'base_commit', 'pr_number', 'pr_url', 'failure_reason', 'agent', 'test_command', 'prompt_version', 'completion_status', 'settings', 'turn', 'stop_reason', 'comment_id', 'check_run_id', 'door_open', 'archive_at', 'created_at', 'updated_at', 'is_merged', 'session_sealed'],
  schema_migrations: ['number', 'name', 'checksum', 'applied_at'],
  sessions: ['id', 'user_id', 'token', 'expires_at', 'ip_address', 'user_agent', 'created_at', 'updated_at'],
  snapshot_restores: ['snapshot_id', 'host_id', 'state', 'updated_at'],
  snapshots: ['id', 'dock_id', 'organization_id', 'status', 'size_bytes', 'runtime', 'host_id', 'disk_gib', 'created_at', 'copied_at', 'used_at', 'lost_at', 'number', 'after_power_cut'],
  ssh_host_keys: ['id', 'instance_id', 'type', 'public_key', 'sealed_private_key', 'created_at'],
  ssh_keys: ['id', 'user_id', 'name', 'public_key', 'fingerprint', 'last_used_at', 'created_at', 'proved_at', 'challenge', 'challenge_expires_at', 'expires_at'],
  templates: ['id', 'organization_id', 'name', 'source_dock_id', 'snapshot_id', 'status', 'size_bytes', 'image', 'disk_gib', 'runtime', 'connectors', 'created_at', 'updated_at', 'created_by'],
  terminal_tickets: ['hash', 'dock_id', 'organization_id', 'user_id', 'credential_id', 'expires_at', 'process_id', 'process_offset'],
  usage_spans: ['id', 'organization_id', 'dock_id', 'thing_id', 'cpus', 'memory_mib', 'disk_gib', 'snapshot_bytes', 'from_at', 'until_at'],
  users: ['id', 'name', 'email', 'email_verified', 'image', 'instance_admin', 'closed_at', 'erased_at', 'created_at', 'updated_at', 'bio'],
  verifications: ['id', 'identifier', 'value', 'expires_at', 'created_at', 'updated_at'],
  vouched_addresses: ['user_id', 'email', 'vouched_by', 'vouched_at'],
  webhook_attempts: ['id', 'delivery_id', 'endpoint_id', 'event_id', 'event', 'status', 'error', 'started_at', 'finished_at', 'answer'],
  webhook_deliveries: ['id', 'endpoint_id', 'organization_id', 'event_id', 'event', 'occurred_at', 'dock_id', 'dock_state', 'workspace_id', 'status', 'attempts', 'next_attempt_at', 'created_at'],
  webhook_endpoints: ['id', 'organization_id', 'name', 'url', 'events', 'secret_prefix', 'sealed_secret', 'sealed_previous_secret', 'previous_secret_until', 'disabled_at', 'created_at', 'updated_at'],
  workspaces: ['id', 'organization_id', 'name', 'slug', 'created_at', 'updated_at'],
} as const satisfies { [Table in keyof Database]: readonly (keyof Database[Table])[] }
