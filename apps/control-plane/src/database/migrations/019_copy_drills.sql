-- When a copy was last proven anew, and since when something of it is known to be damaged or missing.
alter table copies add column drilled_at timestamptz;
alter table copies add column damaged_at timestamptz;
create index copies_drill on copies (coalesce(drilled_at, verified_at)) where verified_at is not null;

-- Wakes what copies Snapshots. What is missed is found by a look each minute.
create function snapshot_completed() returns trigger language plpgsql as $$
begin
  perform pg_notify('snapshot_completed', '');
  return null;
end $$;
create trigger snapshots_completed after update of status on snapshots
  for each row when (old.status is distinct from new.status and new.status = 'completed')
  execute function snapshot_completed();

-- Wakes what takes data at rest away from organizations that keep none: the policy was turned on, a Dock was archived
-- meanwhile, or a Snapshot went and its objects are to go with it.
create function retention_turned_on() returns trigger language plpgsql as $$
begin
  perform pg_notify('retention', '');
  return null;
end $$;
create trigger organizations_retention after update of retention_enabled on organizations
  for each row when (new.retention_enabled and not old.retention_enabled)
  execute function retention_turned_on();

create function retained_thing_changed() returns trigger language plpgsql as $$
begin
  if exists (select 1 from organizations where id = coalesce(new.organization_id, old.organization_id) and retention_enabled) then
    perform pg_notify(tg_argv[0], '');
  end if;
  return null;
end $$;
create trigger docks_retention after update of state on docks
  for each row when (old.state is distinct from new.state and new.state = 'archived')
  execute function retained_thing_changed('retention');
create trigger snapshots_retention after delete on snapshots
  for each row execute function retained_thing_changed('snapshots_wiped');

-- Chunks are removed, and strays told, by their objects.
create unique index copy_chunks_object on copy_chunks (object_key);
