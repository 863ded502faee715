-- GitHub Runs (decision 116). A Run goes with its workspace. Installations change and vanish under live Runs, so a Run
-- keeps what it needs of its installation and refers to no row of it.
create table runs (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  installation_id uuid not null,
  -- Numbers of the provider, which never change.
  provider_installation_id bigint not null,
  repository_id bigint not null,
  repo text not null,
  issue_number integer not null,
  -- Who the machine belongs to: the creator of the installation.
  created_by uuid not null,
  execution_target text not null check (execution_target in ('dock', 'fast')),
  state text not null check (state in ('pending', 'provisioning', 'working', 'pr_opened', 'failed', 'stopped', 'done')),
  dock_id uuid references docks (id) on delete set null,
  branch text not null,
  base_branch text not null,
  base_commit text,
  pr_number integer,
  pr_url text,
  failure_reason text,
  agent text not null,
  test_command text,
  prompt_version text,
  completion_status text,
  -- Environment, budget, timeout, model and command as they stood at the trigger.
  settings jsonb not null,
  -- The current turn; 1 is the issue, later ones are feedback on the pull request.
  turn integer not null default 1,
  -- Set once somebody or something wants the Run to end. Its saga ends it.
  stop_reason text,
  comment_id bigint,
  check_run_id bigint,
  -- True while the door of the Run's Dock serves the Run, and nothing else.
  door_open boolean not null default false,
  -- When the Run's Dock is archived, unless feedback arrives before.
  archive_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index runs_workspace on runs (workspace_id, created_at desc, id desc);
create index runs_organization on runs (organization_id);
create unique index runs_live_issue on runs (repository_id, issue_number)
  where state in ('pending', 'provisioning', 'working', 'pr_opened');
create index runs_pull_request on runs (repository_id, pr_number) where pr_number is not null;
create index runs_dock on runs (dock_id) where dock_id is not null;
create index runs_archive on runs (archive_at) where archive_at is not null;

create table run_events (
  id bigint generated always as identity primary key,
  run_id uuid not null references runs (id) on delete cascade,
  type text not null,
  at timestamptz not null
);
create index run_events_run on run_events (run_id, id);

-- One turn of an agent. The id is also that of the agent's process on the host.
create table run_turns (
  id uuid primary key,
  run_id uuid not null references runs (id) on delete cascade,
  number integer not null,
  repository_id bigint not null,
  trigger_key text not null,
  actor text not null,
  instruction text not null,
  -- The issue and its comments as they stood at the trigger.
  text jsonb not null,
  has_outsider_text boolean not null,
  -- What the agent claims to have done, through the door.
  report text,
  completion_status text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micro_usd bigint not null default 0,
  log_bytes bigint not null default 0,
  started_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz not null,
  unique (run_id, number),
  unique (repository_id, trigger_key)
);

-- What agents wrote, bounded for each turn.
create table run_logs (
  turn_id uuid not null references run_turns (id) on delete cascade,
  at_byte bigint not null,
  text text not null,
  primary key (turn_id, at_byte)
);

-- Operations of Runs are the engine's own: no route shows them.
alter table operations drop constraint operations_target_type_check;
alter table operations add constraint operations_target_type_check
  check (target_type in ('dock', 'snapshot', 'template', 'environment', 'run'));
