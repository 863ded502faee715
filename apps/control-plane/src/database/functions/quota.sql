-- The quota checks of every statement that starts compute (modules/limits/quota.ts).

-- Returns the first plan or limit that one more live Dock of this size would pass, or no row. The statement that places the
-- Dock calls it. It holds a lock until that statement's transaction ends, so concurrent starts of one organization run one
-- after the other. It is volatile, so it counts with a snapshot taken after the lock and sees what earlier starts committed.
-- Machines of fast Runs count like Docks. Disks of Docks that take no slot count for diskGiB.
create or replace function quota_refusal(organization uuid, plans boolean, defaults jsonb, more_cpus bigint,
    more_memory_mib bigint, more_disk_gib bigint)
  returns table (refused text, allowed bigint, used bigint) language plpgsql volatile as $$
declare
  plan record;
  own organization_limits;
  stored organization_storage;
  live record;
  kept bigint;
begin
  perform pg_advisory_xact_lock(20, hashtext(organization::text));
  select count(*) as docks, coalesce(sum(cpus), 0) as cpus, coalesce(sum(memory_mib), 0) as memory_mib,
    coalesce(sum(disk_gib), 0) as disk_gib into live
    from (select d.cpus, d.memory_mib, d.disk_gib from docks d where d.organization_id = organization and d.placed
      union all select m.cpus, m.memory_mib, m.disk_gib from run_machines m
        where m.organization_id = organization and m.state <> 'ended') as l;
  select coalesce(sum(d.disk_gib), 0) into kept from docks d
    where d.organization_id = organization and d.has_disk and not d.placed;
  if plans then
    select o.active and o.subscribed as active, p.docks_max, p.budget_micros, case
        when o.spent_month = date_trunc('month', metering_now() at time zone 'UTC')::date then o.spent_micros
        else 0 end as spent_micros into plan
      from organization_plans o join plans p on p.name = o.plan where o.organization_id = organization;
    if plan.active is not true then
      return query select 'subscription', 0::bigint, 0::bigint;
      return;
    elsif plan.spent_micros >= plan.budget_micros then
      return query select 'budget', plan.budget_micros, plan.spent_micros;
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
      (4, 'diskGiB', coalesce(own.disk_gib, (defaults ->> 'diskGiB')::bigint), live.disk_gib::bigint + kept,
        more_disk_gib),
      -- What a start will store is not known before, so a start is refused once the limit is reached.
      (5, 'storedGiB', coalesce(own.stored_gib, (defaults ->> 'storedGiB')::bigint),
        coalesce(stored.stored_bytes, 0) / 1073741824, 1::bigint),
      (6, 'snapshots', coalesce(own.snapshots, (defaults ->> 'snapshots')::bigint), coalesce(stored.snapshots, 0),
        1::bigint)
    ) as c(i, name, most, has, more)
    where c.has + c.more > c.most order by c.i limit 1;
end $$;

-- Returns a row if the plan allows no further fast Run at once. The Run that asks does not count.
create or replace function fast_run_refusal(organization uuid, plans boolean, asking uuid)
  returns table (refused text, allowed bigint, used bigint) language sql volatile as $$
  select 'fastRuns', p.fast_runs_max::bigint, r.used
  from organization_plans o join plans p on p.name = o.plan, lateral (select count(*) as used from runs r
    where r.organization_id = organization and r.execution_target = 'fast' and r.state in ('provisioning', 'working')
      and r.id is distinct from asking) as r
  where plans and o.organization_id = organization and r.used >= p.fast_runs_max $$;

-- Both checks for the machine of a fast Run. The plan's limit on fast Runs comes first.
create or replace function fast_quota_refusal(organization uuid, plans boolean, defaults jsonb, more_cpus bigint,
    more_memory_mib bigint, more_disk_gib bigint, asking uuid)
  returns table (refused text, allowed bigint, used bigint) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(20, hashtext(organization::text));
  return query select * from fast_run_refusal(organization, plans, asking);
  if not found then
    return query select * from quota_refusal(organization, plans, defaults, more_cpus, more_memory_mib, more_disk_gib);
  end if;
end $$;
