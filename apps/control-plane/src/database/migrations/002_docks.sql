-- Docks, the machines they run on, their Snapshots, and the operations that change them.

create table hosts (
  id uuid primary key,
  address text not null,
  credential_hash bytea not null unique,
  runtime text not null,
  cpu_family text not null,
  kernel text not null,
  kernel_release text,
  boot_id text not null,
  vcpu_total integer not null,
  mem_total_bytes bigint not null,
  disk_total_bytes bigint not null,
  max_docks integer not null,
  images text[] not null,
  state text not null check (state in ('online', 'offline')),
  mem_available_bytes bigint not null default 0,
  disk_free_bytes bigint not null default 0,
  running_docks integer not null default 0,
  -- What placement has given away; each Dock with docks.placed counts once.
  reserved_cpus integer not null default 0 check (reserved_cpus >= 0),
  reserved_memory_mib bigint not null default 0 check (reserved_memory_mib >= 0),
  reserved_disk_gib bigint not null default 0 check (reserved_disk_gib >= 0),
  reserved_slots integer not null default 0 check (reserved_slots >= 0),
  -- Reported runtimes that match no Dock, as of the last inventory.
  orphans jsonb not null default '[]',
  last_heartbeat_at timestamptz,
  created_at timestamptz not null
);

-- A join token is worth one registration within its hour; only its SHA-256 is kept.
create table join_tokens (
  hash bytea primary key,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null
);

create table docks (
  id uuid primary key,
  organization_id uuid not null,
  workspace_id uuid not null references workspaces (id),
  name text not null,
  image text not null,
  cpus integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  runtime text not null,
  state text not null,
  state_changed_at timestamptz not null,
  -- Fencing number of the runtime that may exist; grows with each boot.
  generation integer not null check (generation >= 1),
  ttl_seconds integer,
  -- When the ttl stops it; set as the Dock becomes ready.
  stop_at timestamptz,
  environment text not null,
  no_env boolean not null,
  from_template text,
  ip text,
  host_id uuid references hosts (id),
  -- Whether the host's reserved columns count this Dock.
  placed boolean not null,
  -- Whether host_id keeps a disk of it, so that an error can still be stopped with a capture.
  has_disk boolean not null,
  billing_paused_at timestamptz,
  setup_status text not null check (setup_status in ('pending', 'running', 'done', 'failed')),
  setup_error text,
  last_snapshot_at timestamptz,
  -- Times of unexpected deaths that were answered by a boot, newest last.
  recoveries timestamptz[] not null default '{}',
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint docks_name unique (workspace_id, name)
);
create index docks_organization on docks (organization_id);
create index docks_host on docks (host_id);
create index docks_due on docks (stop_at) where stop_at is not null;

create table snapshots (
  id uuid primary key,
  dock_id uuid not null references docks (id) on delete cascade,
  organization_id uuid not null,
  status text not null check (status in ('saving', 'completed', 'failed')),
  size_bytes bigint not null default 0,
  runtime text,
  -- Where the capture is pinned until a verified copy exists.
  host_id uuid not null references hosts (id),
  disk_gib integer not null,
  created_at timestamptz not null
);
create index snapshots_dock on snapshots (dock_id, created_at desc, id desc);
create index snapshots_organization on snapshots (organization_id, created_at desc, id desc);

create table operations (
  id text primary key,
  organization_id uuid not null,
  kind text not null,
  target_type text not null check (target_type in ('dock', 'snapshot', 'template', 'environment')),
  target_id uuid not null,
  -- The Dock it holds; no foreign key, since the row outlives a deleted Dock.
  dock_id uuid,
  host_id uuid,
  generation integer not null,
  status text not null check (status in ('pending', 'processing', 'blocked', 'completed')),
  -- The last step known to be done, and whether the steps are being undone.
  step text,
  undoing boolean not null default false,
  data jsonb not null,
  cause jsonb not null,
  error jsonb,
  -- Run by another operation's saga, which completes it; never taken from the table on its own.
  driven boolean not null default false,
  lease_owner text,
  lease_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index operations_one_active on operations (dock_id) where status <> 'completed';
create index operations_due on operations (lease_until) where status in ('pending', 'processing');

create table idempotency_keys (
  organization_id uuid not null,
  key text not null,
  -- SHA-256 of the route and the canonical body.
  fingerprint bytea not null,
  dock_id uuid not null,
  operation_id text not null,
  created_at timestamptz not null,
  primary key (organization_id, key)
);

-- One row per keyed exec; the result is dropped after a day, the row keeps the command from running again.
create table exec_keys (
  dock_id uuid not null references docks (id) on delete cascade,
  key text not null,
  result jsonb,
  created_at timestamptz not null,
  primary key (dock_id, key)
);

-- Who changed a Dock's state, through what and why; written with the change itself.
create table dock_state_changes (
  id bigint generated always as identity primary key,
  dock_id uuid not null,
  organization_id uuid not null,
  from_state text,
  to_state text not null,
  cause jsonb not null,
  at timestamptz not null
);
create index dock_state_changes_dock on dock_state_changes (dock_id, id);

-- The outbox: one row an event, in the transaction of the change that it tells of.
create table dock_events (
  id uuid primary key,
  type text not null,
  dock_id uuid not null,
  dock_state text not null,
  organization_id uuid not null,
  workspace_id uuid not null,
  occurred_at timestamptz not null,
  delivered_at timestamptz
);
create index dock_events_due on dock_events (occurred_at) where delivered_at is null;
