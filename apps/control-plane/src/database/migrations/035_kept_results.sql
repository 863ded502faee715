-- Byte budgets for kept results of keyed commands, and old versions of Environments that let go of their bundles.

-- What the sealed outcome takes; null while there is none.
alter table exec_keys add column outcome_bytes integer generated always as (octet_length(outcome_sealed)) stored;
create index exec_keys_kept_of_dock on exec_keys (dock_id, created_at) include (outcome_bytes)
  where outcome_bytes is not null;
create index exec_keys_kept_of_organization on exec_keys (organization_id, created_at) include (outcome_bytes)
  where outcome_bytes is not null;

-- What all kept results of the organization take.
alter table organization_storage add column result_bytes bigint not null default 0;
insert into organization_storage as s (organization_id, snapshots, stored_bytes, result_bytes)
  select organization_id, 0, 0, sum(outcome_bytes) from exec_keys where outcome_bytes is not null
  group by organization_id
  on conflict (organization_id) do update set result_bytes = excluded.result_bytes;

create function count_results() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    insert into organization_storage as s (organization_id, snapshots, stored_bytes, result_bytes)
      select organization_id, 0, 0, sum(bytes) from (
        select organization_id, outcome_bytes as bytes from became where outcome_bytes is not null
        union all select organization_id, -outcome_bytes from was where outcome_bytes is not null) changes
      group by organization_id having sum(bytes) <> 0 order by organization_id
      on conflict (organization_id) do update set result_bytes = s.result_bytes + excluded.result_bytes;
  else
    with gone as materialized (select organization_id, sum(outcome_bytes) as bytes from was
        where outcome_bytes is not null group by organization_id),
      held as (select s.organization_id from organization_storage s where s.organization_id in
        (select organization_id from gone) order by s.organization_id for update)
    update organization_storage s set result_bytes = s.result_bytes - gone.bytes from gone, held
      where s.organization_id = gone.organization_id and held.organization_id = gone.organization_id;
  end if;
  return null;
end $$;
create trigger exec_keys_counted after update on exec_keys referencing old table as was new table as became
  for each statement execute function count_results();
create trigger exec_keys_uncounted after delete on exec_keys referencing old table as was
  for each statement execute function count_results();

-- When the bundle was cleared: the version had been replaced, and no Dock was pinned to it.
alter table environment_versions add column bundle_cleared_at timestamptz;
create index environment_versions_bundles on environment_versions (environment_id, version)
  where bundle_sealed is not null;
