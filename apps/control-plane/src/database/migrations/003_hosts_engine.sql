-- The engine's wake-up call, and what a blocked operation waits for.

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
