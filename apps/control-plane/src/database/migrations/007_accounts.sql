-- What accounts hold beyond sign-in, and the zero-data-retention policy of organizations.
alter table users add column bio text not null default '';
alter table organizations add column retention_enabled boolean not null default false;

create index users_closed on users (closed_at) where closed_at is not null;

-- Docks that are to be stopped because an account closed: kept until each is archived, so that a crash or a silent
-- host delays a stop and loses none.
create table ordered_stops (
  dock_id uuid primary key references docks (id) on delete cascade,
  -- The boot that is to end: one that came later is somebody else's wish.
  generation integer not null,
  -- Whose account closed; no foreign key, since the stop outlives an erasure.
  ordered_by uuid not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null
);
create index ordered_stops_due on ordered_stops (next_attempt_at);
create index ordered_stops_person on ordered_stops (ordered_by);

-- Whoever holds something open through a session, a key or a membership hears when it is lost. The payload is the id
-- of what was lost; triggers, so that nothing that deletes such a row can forget to say so.

create function tell_access_lost() returns trigger language plpgsql as $$
begin
  perform pg_notify('access_lost', to_jsonb(old) ->> tg_argv[0]);
  return null;
end $$;

create trigger sessions_lost after delete on sessions
  for each row execute function tell_access_lost('id');
create trigger api_keys_deleted after delete on api_keys
  for each row execute function tell_access_lost('id');
create trigger api_keys_revoked after update of revoked_at on api_keys
  for each row when (new.revoked_at is not null) execute function tell_access_lost('id');
create trigger ssh_keys_lost after delete on ssh_keys
  for each row execute function tell_access_lost('id');
create trigger memberships_lost after delete on memberships
  for each row execute function tell_access_lost('user_id');
create trigger users_closed after update of closed_at, erased_at on users
  for each row when (new.closed_at is not null) execute function tell_access_lost('id');
