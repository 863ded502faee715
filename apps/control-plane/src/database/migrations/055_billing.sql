-- Plans of the operator, what Docks and Snapshots use, and the ledger of closed days. Decision 086 explains it.

-- The operator's plans.json, saved at each start. Prices are micro-units of the currency; null means no limit.
create table plans (
  name text primary key,
  currency text not null,
  docks_max integer check (docks_max >= 0),
  fast_runs_max integer check (fast_runs_max >= 0),
  budget_micros bigint check (budget_micros >= 0),
  vcpu_second numeric(20, 6) not null check (vcpu_second >= 0),
  memory_gib_second numeric(20, 6) not null check (memory_gib_second >= 0),
  disk_gib_month numeric(20, 6) not null check (disk_gib_month >= 0),
  snapshot_gib_month numeric(20, 6) not null check (snapshot_gib_month >= 0),
  -- No longer in the file. Organizations that have it keep it; nobody is given it.
  retired boolean not null default false
);

-- Plans that were written by hand become retired plans without prices.
alter table organization_plans add column plan text references plans (name);
with earlier as (
  select docks_max, budget_cents, 'earlier-' || row_number() over (order by docks_max, budget_cents) as name
  from (select distinct docks_max, budget_cents from organization_plans) as p),
saved as (
  insert into plans (name, currency, docks_max, budget_micros, vcpu_second, memory_gib_second, disk_gib_month,
    snapshot_gib_month, retired)
  select name, 'XXX', docks_max, budget_cents * 10000, 0, 0, 0, 0, true from earlier returning name)
select count(*) from saved;
update organization_plans o set plan = e.name from (
    select docks_max, budget_cents, 'earlier-' || row_number() over (order by docks_max, budget_cents) as name
    from (select distinct docks_max, budget_cents from organization_plans) as p) as e
  where o.docks_max is not distinct from e.docks_max and o.budget_cents is not distinct from e.budget_cents;
alter table organization_plans
  alter column plan set not null,
  -- False while the payment company says that the subscription is not paid (migration 056).
  add column subscribed boolean not null default true,
  -- The cost of `spent_month` so far. An earlier month counts as nothing.
  add column spent_month date,
  add column spent_micros bigint not null default 0,
  drop column docks_max,
  drop column budget_cents,
  drop column spent_cents;

-- One clock for all that is billed: the database's. Tests replace the function to move time.
create function metering_now() returns timestamptz language sql volatile as 'select clock_timestamp()';
create function metering_day() returns date language sql volatile as
  $$select (metering_now() at time zone 'UTC')::date$$;
create function day_start(day date) returns timestamptz language sql immutable as
  $$select day::timestamp at time zone 'UTC'$$;

-- A span of time in which a Dock or a Snapshot used the same billed amounts. `until_at` is infinity while it lasts.
-- No foreign keys: spans outlive their Docks.
create table usage_spans (
  id bigint generated always as identity primary key,
  organization_id uuid not null,
  dock_id uuid not null,
  -- The Dock, or one of its Snapshots.
  thing_id uuid not null,
  cpus integer not null default 0,
  memory_mib integer not null default 0,
  disk_gib integer not null default 0,
  snapshot_bytes bigint not null default 0,
  from_at timestamptz not null,
  until_at timestamptz not null default 'infinity' check (until_at >= from_at)
);
create unique index usage_spans_open on usage_spans (thing_id) where until_at = 'infinity';
create index usage_spans_organization on usage_spans (organization_id, until_at);
create index usage_spans_until on usage_spans (until_at);

create function is_billed_dock(state text, billing_paused_at timestamptz) returns boolean language sql immutable as
  $$select state in ('ready', 'idle', 'running') and billing_paused_at is null$$;

-- Triggers, and no code of the control plane, write the spans: no statement that changes a Dock can forget them, and
-- they are part of its transaction. A span ends no earlier than it began, even if the clock was set back.
create function meter_dock() returns trigger language plpgsql as $$
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
create trigger docks_metered after insert or delete or update of state, billing_paused_at, cpus, memory_mib, disk_gib
  on docks for each row execute function meter_dock();

create function meter_snapshot() returns trigger language plpgsql as $$
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
create trigger snapshots_metered after insert or delete or update of status, size_bytes
  on snapshots for each row execute function meter_snapshot();

-- What exists already is counted from this upgrade on.
insert into usage_spans (organization_id, dock_id, thing_id, cpus, memory_mib, disk_gib, from_at)
  select organization_id, id, id, cpus, memory_mib, disk_gib, now() from docks
  where is_billed_dock(state, billing_paused_at);
insert into usage_spans (organization_id, dock_id, thing_id, snapshot_bytes, from_at)
  select organization_id, dock_id, id, size_bytes, now() from snapshots where status = 'completed';

-- Usage between two times, in microseconds times vCPU, MiB, GiB and byte. One function is for all organizations and one
-- for a single one, since a condition for both could use no index.
create function usage_of_all(since timestamptz, until timestamptz)
  returns table (organization_id uuid, dock_id uuid, vcpu_us numeric, memory_mib_us numeric, disk_gib_us numeric,
    snapshot_byte_us numeric) language sql stable as $$
  select s.organization_id, s.dock_id, sum(s.cpus * t.us), sum(s.memory_mib * t.us), sum(s.disk_gib * t.us),
    sum(s.snapshot_bytes * t.us)
  from usage_spans s, lateral (select trunc(extract(epoch from
    least(s.until_at, until) - greatest(s.from_at, since)) * 1000000) as us) as t
  where s.from_at < until and s.until_at > since
  group by s.organization_id, s.dock_id $$;
create function usage_of(organization uuid, since timestamptz, until timestamptz)
  returns table (organization_id uuid, dock_id uuid, vcpu_us numeric, memory_mib_us numeric, disk_gib_us numeric,
    snapshot_byte_us numeric) language sql stable as $$
  select s.organization_id, s.dock_id, sum(s.cpus * t.us), sum(s.memory_mib * t.us), sum(s.disk_gib * t.us),
    sum(s.snapshot_bytes * t.us)
  from usage_spans s, lateral (select trunc(extract(epoch from
    least(s.until_at, until) - greatest(s.from_at, since)) * 1000000) as us) as t
  where s.organization_id = organization and s.from_at < until and s.until_at > since
  group by s.organization_id, s.dock_id $$;

-- The cost in micro-units, each part rounded down. A GiB costs its monthly price in a month of any length.
create function usage_cost(day date, vcpu_us numeric, memory_mib_us numeric, disk_gib_us numeric,
    snapshot_byte_us numeric, p plans) returns bigint language sql immutable as $$
  select (coalesce(div(vcpu_us * p.vcpu_second, 1000000) + div(memory_mib_us * p.memory_gib_second, 1024000000)
    + div(disk_gib_us * p.disk_gib_month, m.us) + div(snapshot_byte_us * p.snapshot_gib_month, 1073741824 * m.us), 0))::bigint
  from (select 86400000000 * extract(day from date_trunc('month', day::timestamp) + interval '1 month'
    - date_trunc('month', day::timestamp)) as us) as m $$;

-- Days before `closed_until` are closed, in UTC.
create table ledger_calendar (
  one boolean primary key default true check (one),
  closed_until date not null
);
insert into ledger_calendar (closed_until) values (metering_day());

-- The ledger. Its rows are written when a day is closed and never change.
create table ledger_days (
  organization_id uuid not null,
  day date not null,
  vcpu_us numeric(38) not null,
  memory_mib_us numeric(38) not null,
  disk_gib_us numeric(38) not null,
  snapshot_byte_us numeric(38) not null,
  -- The plan and its prices when the day was closed. Null: no plan, no cost.
  plan text,
  currency text,
  prices jsonb,
  cost_micros bigint not null,
  closed_at timestamptz not null,
  primary key (organization_id, day)
);
create table ledger_docks (
  organization_id uuid not null,
  day date not null,
  dock_id uuid not null,
  vcpu_us numeric(38) not null,
  memory_mib_us numeric(38) not null,
  disk_gib_us numeric(38) not null,
  snapshot_byte_us numeric(38) not null,
  primary key (organization_id, day, dock_id)
);
create index ledger_docks_day on ledger_docks (day);
create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'a closed day of the ledger never changes';
end $$;
create trigger ledger_days_closed before update on ledger_days
  for each row execute function refuse_ledger_change();
create trigger ledger_docks_closed before update on ledger_docks
  for each row execute function refuse_ledger_change();

-- As in migration 034; the plan's limits now stand in `plans`.
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
    from docks d where d.organization_id = organization and d.placed;
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
