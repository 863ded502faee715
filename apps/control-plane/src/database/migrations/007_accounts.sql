-- What accounts hold beyond sign-in, and the zero-data-retention policy of organizations.
alter table users add column bio text not null default '';
alter table organizations add column retention_enabled boolean not null default false;

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
create trigger memberships_lost after delete on memberships
  for each row execute function tell_access_lost('user_id');
create trigger users_closed after update of closed_at, erased_at on users
  for each row when (new.closed_at is not null) execute function tell_access_lost('id');
