-- Counters of what organizations store, because creates read them and must not count millions of rows. Counters are
-- changed last in a statement and in the order of their ids, so that two statements never wait for each other in a circle.

create or replace function count_snapshots() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into organization_storage as s (organization_id, snapshots, stored_bytes)
      select organization_id, count(*), 0 from changed group by organization_id order by organization_id
      on conflict (organization_id) do update set snapshots = s.snapshots + excluded.snapshots;
  else
    with gone as materialized (select organization_id, count(*) as n from changed group by organization_id),
      held as (select s.organization_id from organization_storage s where s.organization_id in
        (select organization_id from gone) order by s.organization_id for update)
    update organization_storage s set snapshots = s.snapshots - gone.n from gone, held
      where s.organization_id = gone.organization_id and held.organization_id = gone.organization_id;
  end if;
  return null;
end $$;

create or replace function count_chunks() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into organization_storage as s (organization_id, snapshots, stored_bytes)
      select organization_id, 0, sum(size_bytes) from changed group by organization_id order by organization_id
      on conflict (organization_id) do update set stored_bytes = s.stored_bytes + excluded.stored_bytes;
  else
    with gone as materialized (select organization_id, sum(size_bytes) as n from changed group by organization_id),
      held as (select s.organization_id from organization_storage s where s.organization_id in
        (select organization_id from gone) order by s.organization_id for update)
    update organization_storage s set stored_bytes = s.stored_bytes - gone.n from gone, held
      where s.organization_id = gone.organization_id and held.organization_id = gone.organization_id;
  end if;
  return null;
end $$;

create or replace function count_results() returns trigger language plpgsql as $$
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
