-- The engine's wake-up call, what a blocked operation waits for, and the proof by which a host enrols again as itself.

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

-- SHA-256 of the credential that the host last linked with: it may enrol again under its id after a reset, with a join
-- token and this credential, which no longer opens a link.
alter table hosts add column held_hash bytea;
