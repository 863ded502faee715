-- What one organization may use of the instance, and counters of what it stores.

-- Set by an instance admin; null in a column, or no row: the instance's default.
create table organization_limits (
  organization_id uuid primary key references organizations (id) on delete cascade,
  docks integer check (docks >= 0),
  cpus integer check (cpus >= 0),
  memory_mib integer check (memory_mib >= 0),
  disk_gib integer check (disk_gib >= 0),
  stored_gib integer check (stored_gib >= 0),
  snapshots integer check (snapshots >= 0),
  environments integer check (environments >= 0),
  repositories integer check (repositories >= 0),
  templates integer check (templates >= 0)
);

-- Kept by the triggers below, since creates read them and must not count millions of rows. No foreign key: the counters
-- of a deleted organization go with its last Snapshots and chunks.
create table organization_storage (
  organization_id uuid primary key,
  snapshots bigint not null,
  stored_bytes bigint not null
);
insert into organization_storage (organization_id, snapshots, stored_bytes)
  select organization_id, sum(n), sum(bytes) from (
    select organization_id, count(*) as n, 0 as bytes from snapshots group by organization_id
    union all select organization_id, 0, sum(size_bytes) from copy_chunks group by organization_id) counted
  group by organization_id;

-- Counters are changed last in a statement and in the order of their ids, so that two of them never wait in a circle.
create function count_snapshots() returns trigger language plpgsql as $$
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
create trigger snapshots_counted after insert on snapshots referencing new table as changed
  for each statement execute function count_snapshots();
create trigger snapshots_uncounted after delete on snapshots referencing old table as changed
  for each statement execute function count_snapshots();

create function count_chunks() returns trigger language plpgsql as $$
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
create trigger copy_chunks_counted after insert on copy_chunks referencing new table as changed
  for each statement execute function count_chunks();
create trigger copy_chunks_uncounted after delete on copy_chunks referencing old table as changed
  for each statement execute function count_chunks();

-- Counted by each create, branch and resume.
create index docks_placed on docks (organization_id) include (cpus, memory_mib, disk_gib) where placed;

-- The first plan or limit that one more live Dock of this size would pass, or no row. It is called by the statement that
-- places the Dock, and holds a lock until that statement's transaction ends: racers of one organization come one after
-- the other. Being volatile, it counts with a snapshot taken after the lock, so it sees what earlier racers committed.
create function quota_refusal(organization uuid, plans boolean, defaults jsonb, more_cpus bigint, more_memory_mib bigint,
    more_disk_gib bigint)
  returns table (refused text, allowed bigint, used bigint) language plpgsql volatile as $$
declare
  plan organization_plans;
  own organization_limits;
  stored organization_storage;
  live record;
begin
  perform pg_advisory_xact_lock(20, hashtext(organization::text));
  select count(*) as docks, coalesce(sum(cpus), 0) as cpus, coalesce(sum(memory_mib), 0) as memory_mib,
    coalesce(sum(disk_gib), 0) as disk_gib into live
    from docks d where d.organization_id = organization and d.placed;
  if plans then
    select * into plan from organization_plans p where p.organization_id = organization;
    if plan.active is not true then
      return query select 'subscription', 0::bigint, 0::bigint;
      return;
    elsif plan.spent_cents >= plan.budget_cents then
      return query select 'budget', plan.budget_cents, plan.spent_cents;
      return;
    elsif live.docks >= plan.docks_max then
      return query select 'plan', plan.docks_max::bigint, live.docks;
      return;
    end if;
  end if;
  select * into own from organization_limits l where l.organization_id = organization;
  select * into stored from organization_storage s where s.organization_id = organization;
  return query
    select c.name, c.most, c.has from (values
      (1, 'docks', coalesce(own.docks, (defaults ->> 'docks')::bigint), live.docks::bigint, 1::bigint),
      (2, 'cpus', coalesce(own.cpus, (defaults ->> 'cpus')::bigint), live.cpus::bigint, more_cpus),
      (3, 'memoryMiB', coalesce(own.memory_mib, (defaults ->> 'memoryMiB')::bigint), live.memory_mib::bigint,
        more_memory_mib),
      (4, 'diskGiB', coalesce(own.disk_gib, (defaults ->> 'diskGiB')::bigint), live.disk_gib::bigint, more_disk_gib),
      -- What is stored is known afterwards only: the limit is passed once it is reached.
      (5, 'storedGiB', coalesce(own.stored_gib, (defaults ->> 'storedGiB')::bigint),
        coalesce(stored.stored_bytes, 0) / 1073741824, 1::bigint),
      (6, 'snapshots', coalesce(own.snapshots, (defaults ->> 'snapshots')::bigint), coalesce(stored.snapshots, 0),
        1::bigint)
    ) as c(i, name, most, has, more)
    where c.has + c.more > c.most order by c.i limit 1;
end $$;
