/**
 * Row types of Docks, hosts, Snapshots and operations. The migrations, starting with `002_docks.sql`, explain the
 * columns.
 */
import type { ColumnType, Generated } from 'kysely'

type Bigint = ColumnType<string, number, number>
type Json = ColumnType<unknown, string, string>

export type DockTables = {
  hosts: {
    id: string
    address: string
    credential_hash: Buffer
    held_hash: Buffer | null
    runtime: string
    cpu_family: string
    kernel: string
    kernel_release: string | null
    boot_id: string
    vcpu_total: number
    mem_total_bytes: Bigint
    disk_total_bytes: Bigint
    max_docks: number
    images: string[]
    image_versions: Generated<unknown>
    is_builder: Generated<boolean>
    state: 'online' | 'offline'
    mem_available_bytes: Generated<string>
    disk_free_bytes: Generated<string>
    running_docks: Generated<number>
    reserved_cpus: Generated<number>
    reserved_memory_mib: Generated<string>
    reserved_disk_gib: Generated<string>
    reserved_slots: Generated<number>
    orphans: Generated<unknown>
    last_heartbeat_at: Date | null
    created_at: Date
  }
  join_tokens: {
    hash: Buffer
    expires_at: Date
    used_at: Date | null
    for_builder: Generated<boolean>
    created_at: Date
  }
  host_orders: {
    host_id: string
    kind: 'dock' | 'start' | 'capture'
    thing_id: string
    generation: Generated<number>
    created_at: Date
  }
  docks: {
    id: string
    organization_id: string
    workspace_id: string
    name: string
    image: string
    image_version: string | null
    cpus: number
    memory_mib: number
    disk_gib: number
    runtime: string
    state: string
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
    disk_alert: string | null
    env_sealed: string | null
    setup_script_sealed: string | null
    ready_at: Date | null
    active_at: Date | null
    kept_cpus: number | null
    kept_memory_mib: number | null
    created_by: string
    created_at: Date
    updated_at: Date
  }
  snapshots: {
    id: string
    dock_id: string
    organization_id: string
    status: 'saving' | 'completed' | 'failed'
    size_bytes: Bigint
    runtime: string | null
    host_id: string
    disk_gib: number
    created_at: Date
  }
  snapshot_restores: {
    snapshot_id: string
    host_id: string
    state: 'restoring' | 'kept'
    updated_at: Date
  }
  operations: {
    id: string
    organization_id: string
    kind: string
    target_type: 'dock' | 'snapshot' | 'template' | 'environment'
    target_id: string
    dock_id: string | null
    host_id: string | null
    generation: number
    status: 'pending' | 'processing' | 'blocked' | 'completed'
    step: string | null
    undoing: Generated<boolean>
    data: Json
    cause: Json
    error: ColumnType<unknown, string | null, string | null>
    driven: Generated<boolean>
    waits_for: string | null
    lease_owner: string | null
    lease_until: Date | null
    created_at: Date
    updated_at: Date
  }
  idempotency_keys: {
    organization_id: string
    key: string
    fingerprint: Buffer
    dock_id: string
    operation_id: string
    created_at: Date
  }
  exec_keys: {
    dock_id: string
    key: string
    id: Generated<string>
    organization_id: string
    outcome_sealed: string | null
    created_at: Date
  }
  ordered_stops: {
    dock_id: string
    generation: number
    ordered_by: string
    attempts: Generated<number>
    next_attempt_at: Date
  }
  dock_state_changes: {
    id: Generated<string>
    dock_id: string
    organization_id: string
    from_state: string | null
    to_state: string
    cause: Json
    at: Date
  }
  dock_memory_shortages: {
    id: Generated<string>
    dock_id: string
    generation: number
    process: string | null
    count: number
    at: Date
  }
  dock_events: {
    id: string
    type: string
    dock_id: string
    dock_state: string
    organization_id: string
    workspace_id: string
    occurred_at: Date
  }
}
