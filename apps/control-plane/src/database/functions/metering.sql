-- What Docks, machines of fast Runs and Snapshots use, and what it costs. Triggers write the spans, so no
-- statement that changes a Dock can forget them, and they are part of its transaction. A span ends no earlier than it
-- began, even if the clock was set back.

-- The one clock for all that is billed. Tests replace the function to move time.
create or replace function metering_now() returns timestamptz language sql volatile as 'select clock_timestamp()';

create or replace function metering_day() returns date language sql volatile as
  $$select (metering_now() at time zone 'UTC')::date$$;

create or replace function day_start(day date) returns timestamptz language sql immutable as
  $$select day::timestamp at time zone 'UTC'$$;

-- The states are `readyDockStates` of the contract; functions.test.ts compares them.
create or replace function is_billed_dock(state text, billing_paused_at timestamptz) returns boolean
  language sql immutable as
  $$select state in ('ready', 'idle', 'running') and billing_paused_at is null$$;

create or replace function meter_dock() returns trigger language plpgsql as $$
declare
  was boolean := tg_op <> 'INSERT' and is_billed_dock(old.state, old.billing_paused_at);
  is_now boolean := tg_op <> 'DELETE' and is_billed_dock(new.state, new.billing_paused_at);
  changed_at timestamptz;
begin
  if was = is_now and (not is_now
      or (old.cpus, old.memory_mib, old.disk_gib) = (new.cpus, new.memory_mib, new.disk_gib)) then
    return null;
  end if;
  changed_at := metering_now();
  if was then
    update usage_spans set until_at = greatest(from_at, changed_at) where thing_id = old.id and until_at = 'infinity';
  end if;
  if is_now then
    insert into usage_spans (organization_id, dock_id, thing_id, cpus, memory_mib, disk_gib, from_at)
      values (new.organization_id, new.id, new.id, new.cpus, new.memory_mib, new.disk_gib, changed_at);
  end if;
  return null;
end $$;

create or replace function meter_run_machine() returns trigger language plpgsql as $$
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

create or replace function meter_snapshot() returns trigger language plpgsql as $$
declare
  was boolean := tg_op <> 'INSERT' and old.status = 'completed';
  is_now boolean := tg_op <> 'DELETE' and new.status = 'completed';
  changed_at timestamptz;
begin
  if was = is_now and (not is_now or old.size_bytes = new.size_bytes) then
    return null;
  end if;
  changed_at := metering_now();
  if was then
    update usage_spans set until_at = greatest(from_at, changed_at) where thing_id = old.id and until_at = 'infinity';
  end if;
  if is_now then
    insert into usage_spans (organization_id, dock_id, thing_id, snapshot_bytes, from_at)
      values (new.organization_id, new.dock_id, new.id, new.size_bytes, changed_at);
  end if;
  return null;
end $$;

-- Returns the usage between two times, in microseconds times vCPU, MiB, GiB and byte. A second function is for a single
-- organization, because one condition for both could use no index.
create or replace function usage_of_all(since timestamptz, until timestamptz)
  returns table (organization_id uuid, dock_id uuid, vcpu_us numeric, memory_mib_us numeric, disk_gib_us numeric,
    snapshot_byte_us numeric) language sql stable as $$
  select s.organization_id, s.dock_id, sum(s.cpus * t.us), sum(s.memory_mib * t.us), sum(s.disk_gib * t.us),
    sum(s.snapshot_bytes * t.us)
  from usage_spans s, lateral (select trunc(extract(epoch from
    least(s.until_at, until) - greatest(s.from_at, since)) * 1000000) as us) as t
  where s.from_at < until and s.until_at > since
  group by s.organization_id, s.dock_id $$;

create or replace function usage_of(organization uuid, since timestamptz, until timestamptz)
  returns table (organization_id uuid, dock_id uuid, vcpu_us numeric, memory_mib_us numeric, disk_gib_us numeric,
    snapshot_byte_us numeric) language sql stable as $$
  select s.organization_id, s.dock_id, sum(s.cpus * t.us), sum(s.memory_mib * t.us), sum(s.disk_gib * t.us),
    sum(s.snapshot_bytes * t.us)
  from usage_spans s, lateral (select trunc(extract(epoch from
    least(s.until_at, until) - greatest(s.from_at, since)) * 1000000) as us) as t
  where s.organization_id = organization and s.from_at < until and s.until_at > since
  group by s.organization_id, s.dock_id $$;

-- Returns the cost in micro-units, each part rounded down. A GiB costs its monthly price in a month of any length.
create or replace function usage_cost(day date, vcpu_us numeric, memory_mib_us numeric, disk_gib_us numeric,
    snapshot_byte_us numeric, p plans) returns bigint language sql immutable as $$
  select (coalesce(div(vcpu_us * p.vcpu_second, 1000000) + div(memory_mib_us * p.memory_gib_second, 1024000000)
    + div(disk_gib_us * p.disk_gib_month, m.us) + div(snapshot_byte_us * p.snapshot_gib_month, 1073741824 * m.us), 0))::bigint
  from (select 86400000000 * extract(day from date_trunc('month', day::timestamp) + interval '1 month'
    - date_trunc('month', day::timestamp)) as us) as m $$;

-- The rows of the ledger are written when a day is closed and never change.
create or replace function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'a closed day of the ledger never changes';
end $$;
