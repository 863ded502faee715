-- What Docks keep sealed, when they were last active, kept results of commands, and what an organization's plan allows.

alter table docks
  -- The variables given at create or branch, as JSON, and the script that runs once after the start; both sealed.
  add column env_sealed text,
  add column setup_script_sealed text,
  -- When this boot became ready: what the ttl is counted from. Null while it has no boot.
  add column ready_at timestamptz,
  -- When something last ran in it, give or take half a minute.
  add column active_at timestamptz,
  -- The size to return to at the next stop, where a resume gave another for its boot alone.
  add column kept_cpus integer,
  add column kept_memory_mib integer;
update docks set ready_at = state_changed_at, active_at = state_changed_at
  where state in ('ready', 'idle', 'running', 'unreachable');
create index docks_quiet on docks (active_at) where state in ('ready', 'running');

alter table exec_keys
  add column id uuid not null default gen_random_uuid(),
  add column organization_id uuid,
  -- The outcome, sealed; null while it runs, when it was too long to keep, and after a day.
  add column outcome_sealed text;
update exec_keys k set organization_id = d.organization_id from docks d where d.id = k.dock_id;
alter table exec_keys alter column organization_id set not null, drop column result;
create index exec_keys_kept on exec_keys (created_at) where outcome_sealed is not null;

-- Looked at only where billing is on; an organization without a row has no subscription.
create table organization_plans (
  organization_id uuid primary key references organizations (id) on delete cascade,
  active boolean not null,
  -- Null for no limit.
  docks_max integer check (docks_max >= 0),
  budget_cents bigint check (budget_cents >= 0),
  -- What the current month has cost so far.
  spent_cents bigint not null default 0 check (spent_cents >= 0)
);
