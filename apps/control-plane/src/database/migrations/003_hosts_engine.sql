-- The engine's wake-up call, what a blocked operation waits for, and the warm pools that hosts report.

-- The host whose return lets a blocked operation go on.
alter table operations add column waits_for uuid;
create index operations_blocked on operations (waits_for) where status = 'blocked';

-- An operation that waits for a taker wakes every process. A notice only wakes: a sweep finds what was missed.
create function wake_engine() returns trigger language plpgsql as $$
begin
  perform pg_notify('dock_engine', 'operations');
  return null;
end $$;
create trigger operations_wake after insert or update of status on operations
  for each row when (new.status = 'pending') execute function wake_engine();

-- Sandboxes that hosts hold ready, booted and frozen under the id that their Dock will have. A claimed row stays until
-- its host reports without it, so that a report that was on its way does not offer the Dock a second time.
create table pool_docks (
  id uuid primary key,
  host_id uuid not null references hosts (id) on delete cascade,
  -- The name it was booted with, as host name; the Dock's name where the create gives none.
  name text not null,
  image text not null,
  cpus integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  claimed boolean not null default false,
  reported_at timestamptz not null
);
create index pool_docks_free on pool_docks (image, cpus, memory_mib, disk_gib) where not claimed;
create index pool_docks_host on pool_docks (host_id);
