-- Hosts that were given a Snapshot's capture from its copy, beside the one that `snapshots.host_id` names. Several hosts
-- may keep one: each that starts Docks of a Template does. `snapshots.restoring_to` is no longer used.
create table snapshot_restores (
  snapshot_id uuid not null references snapshots (id) on delete cascade,
  host_id uuid not null references hosts (id) on delete cascade,
  state text not null check (state in ('restoring', 'kept')),
  updated_at timestamptz not null,
  primary key (snapshot_id, host_id)
);
create index snapshot_restores_host on snapshot_restores (host_id);
update snapshots set restoring_to = null where restoring_to is not null;
