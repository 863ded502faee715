-- Machines of fast Runs (decision 130): sandboxes without a Dock. An ended machine keeps its row for a day, so that no late
-- report of its host can be taken for an unknown sandbox. No foreign keys to the tenant: a machine outlives its Run and
-- workspace until it has been ended.
create table run_machines (
  -- Also the id of its Dock, if the Run is promoted.
  id uuid primary key,
  run_id uuid not null,
  organization_id uuid not null,
  workspace_id uuid not null,
  -- The turn for which it was made.
  turn integer not null,
  hostname text not null,
  image text not null,
  image_version text,
  cpus integer not null,
  memory_mib integer not null,
  disk_gib integer not null,
  runtime text not null,
  host_id uuid not null references hosts (id),
  generation integer not null default 1,
  state text not null check (state in ('starting', 'running', 'ended')),
  state_changed_at timestamptz not null,
  -- Whether the host's reserved columns count it.
  placed boolean not null,
  ip text,
  environment text not null,
  environment_id uuid references environments (id) on delete set null,
  environment_version integer,
  env_passes boolean not null,
  marks uuid[] not null,
  no_env boolean not null,
  created_by text not null,
  created_at timestamptz not null
);
create unique index run_machines_live on run_machines (run_id) where state <> 'ended';
create index run_machines_host on run_machines (host_id) where state <> 'ended';
create index run_machines_organization on run_machines (organization_id) where state <> 'ended';
create index run_machines_environment on run_machines (environment_id, environment_version) where state <> 'ended';
create index run_machines_ended on run_machines (state_changed_at) where state = 'ended';

-- Whatever may run on a host: Docks, and machines of fast Runs.
create view machines as
  select id, organization_id, workspace_id, host_id, generation, image_version, environment_id, environment_version,
    marks, no_env, created_by, null::uuid as run_id from docks
  union all
  select id, organization_id, workspace_id, host_id, generation, image_version, environment_id, environment_version,
    marks, no_env, created_by, run_id from run_machines where state <> 'ended';

-- What machines use is metered like what Docks use (migration 055).
create function meter_run_machine() returns trigger language plpgsql as $$
declare
  was boolean := tg_op <> 'INSERT' and old.state = 'running';
  is_now boolean := tg_op <> 'DELETE' and new.state = 'running';
begin
  if was and not is_now then
    update usage_spans set until_at = greatest(from_at, metering_now())
      where thing_id = old.id and until_at = 'infinity';
  elsif is_now and not was then
    insert into usage_spans (organization_id, dock_id, thing_id, cpus, memory_mib, disk_gib, from_at)
      values (new.organization_id, new.id, new.id, new.cpus, new.memory_mib, new.disk_gib, metering_now());
  end if;
  return null;
end $$;
create trigger run_machines_metered after insert or delete or update of state on run_machines
  for each row execute function meter_run_machine();

-- Pages of hosts follow their machines.
create function note_live_run_machine() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, null, true, 'host', coalesce(new.host_id, old.host_id)::text, null);
  return null;
end $$;
create trigger run_machines_live after insert or delete or update of state on run_machines
  for each row execute function note_live_run_machine();

-- As in migration 055. Machines of fast Runs count like Docks.
create or replace function quota_refusal(organization uuid, plans boolean, defaults jsonb, more_cpus bigint,
    more_memory_mib bigint, more_disk_gib bigint)
  returns table (refused text, allowed bigint, used bigint) language plpgsql volatile as $$
declare
  plan record;
  own organization_limits;
  stored organization_storage;
  live record;
begin
  perform pg_advisory_xact_lock(20, hashtext(organization::text));
  select count(*) as docks, coalesce(sum(cpus), 0) as cpus, coalesce(sum(memory_mib), 0) as memory_mib,
    coalesce(sum(disk_gib), 0) as disk_gib into live
    from (select d.cpus, d.memory_mib, d.disk_gib from docks d where d.organization_id = organization and d.placed
      union all select m.cpus, m.memory_mib, m.disk_gib from run_machines m
        where m.organization_id = organization and m.state <> 'ended') as l;
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
      (4, 'diskGiB', coalesce(own.disk_gib, (defaults ->> 'diskGiB')::bigint), live.disk_gib::bigint, more_disk_gib),
      (5, 'storedGiB', coalesce(own.stored_gib, (defaults ->> 'storedGiB')::bigint),
        coalesce(stored.stored_bytes, 0) / 1073741824, 1::bigint),
      (6, 'snapshots', coalesce(own.snapshots, (defaults ->> 'snapshots')::bigint), coalesce(stored.snapshots, 0),
        1::bigint)
    ) as c(i, name, most, has, more)
    where c.has + c.more > c.most order by c.i limit 1;
end $$;

-- The plan's limit on fast Runs at once: those of the organization that work, without the Run that asks.
create function fast_run_refusal(organization uuid, plans boolean, asking uuid)
  returns table (refused text, allowed bigint, used bigint) language sql volatile as $$
  select 'fastRuns', p.fast_runs_max::bigint, r.used
  from organization_plans o join plans p on p.name = o.plan, lateral (select count(*) as used from runs r
    where r.organization_id = organization and r.execution_target = 'fast' and r.state in ('provisioning', 'working')
      and r.id is distinct from asking) as r
  where plans and o.organization_id = organization and r.used >= p.fast_runs_max $$;
create function fast_quota_refusal(organization uuid, plans boolean, defaults jsonb, more_cpus bigint,
    more_memory_mib bigint, more_disk_gib bigint, asking uuid)
  returns table (refused text, allowed bigint, used bigint) language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock(20, hashtext(organization::text));
  return query select * from fast_run_refusal(organization, plans, asking);
  if not found then
    return query select * from quota_refusal(organization, plans, defaults, more_cpus, more_memory_mib, more_disk_gib);
  end if;
end $$;

-- The agent's session, sealed, so that feedback can continue it in another machine. It goes with the Run's end.
alter table runs add column session_sealed text;
create index runs_session on runs (id) where session_sealed is not null;
