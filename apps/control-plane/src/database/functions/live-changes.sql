-- What changed, for open pages of the dashboard. Triggers write the rows, so that no statement can forget them
-- and each row commits with its change.

-- The change is seen by the members of an organization (with `admins`: by its admins), or by one person. Without either,
-- instance admins see it.
create or replace function note_live_change(organization uuid, person uuid, admins boolean, kind text, subject text,
    dock uuid) returns void language plpgsql as $$
begin
  insert into live_changes (organization_id, user_id, for_admins, kind, subject_id, dock_id)
    values (organization, person, admins, kind, subject, dock);
  perform pg_notify('live_changes', '');
end $$;

create or replace function note_live_dock() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, 'dock',
    coalesce(new.id, old.id)::text, coalesce(new.id, old.id));
  return null;
end $$;

create or replace function note_live_snapshot() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, 'snapshot',
    coalesce(new.id, old.id)::text, coalesce(new.dock_id, old.dock_id));
  return null;
end $$;

create or replace function note_live_port() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, 'port',
    coalesce(new.dock_id, old.dock_id)::text, coalesce(new.dock_id, old.dock_id));
  return null;
end $$;

-- For tables with the columns id and organization_id. The argument is the kind.
create or replace function note_live_object() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, tg_argv[0],
    coalesce(new.id, old.id)::text, null);
  return null;
end $$;

-- A person who is no longer a member sees it by their own row.
create or replace function note_live_membership() returns trigger language plpgsql as $$
declare
  organization uuid := coalesce(new.organization_id, old.organization_id);
  person uuid := coalesce(new.user_id, old.user_id);
begin
  perform note_live_change(organization, null, false, 'member', person::text, null);
  perform note_live_change(null, person, false, 'membership', organization::text, null);
  return null;
end $$;

create or replace function note_live_organization() returns trigger language plpgsql as $$
begin
  perform note_live_change(new.id, null, false, 'organization', new.id::text, null);
  return null;
end $$;

-- Deletes the changes of a deleted organization. Its former members see the end by their own rows. The trigger is deferred,
-- because the rows of its memberships and workspaces are written after other triggers of the organization.
create or replace function forget_live_organization() returns trigger language plpgsql as $$
begin
  delete from live_changes where organization_id = old.id;
  return null;
end $$;

create or replace function note_live_notification() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, new.user_id, false, 'notification', new.id::text, null);
  return null;
end $$;

create or replace function note_live_endpoint() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, true, 'webhook',
    coalesce(new.id, old.id)::text, null);
  return null;
end $$;

create or replace function note_live_delivery() returns trigger language plpgsql as $$
begin
  perform note_live_change(new.organization_id, null, true, 'delivery', new.endpoint_id::text, null);
  return null;
end $$;

create or replace function note_live_host() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, null, true, 'host', coalesce(new.id, old.id)::text, null);
  return null;
end $$;

-- Heartbeats write free memory and free disk every few seconds. Only steps of a twentieth count as changes.
create or replace function twentieths(part bigint, whole bigint) returns integer language sql immutable as
  $$select (part::numeric * 20 / nullif(whole, 0))::integer$$;

-- For lists that only instance admins see. The page reads the whole list again, so the change names no object.
create or replace function note_live_for_instance() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, null, true, tg_argv[0], '', null);
  return null;
end $$;

create or replace function note_live_plan() returns trigger language plpgsql as $$
declare
  organization uuid := coalesce(new.organization_id, old.organization_id);
begin
  perform note_live_change(null, null, true, 'plan', '', null);
  perform note_live_change(organization, null, false, 'organization', organization::text, null);
  return null;
end $$;

create or replace function note_live_turn() returns trigger language plpgsql as $$
begin
  perform note_live_change(r.organization_id, null, false, 'run', r.id::text, r.dock_id)
    from runs r where r.id = new.run_id;
  return null;
end $$;

-- Finds no installation for rows that are deleted with it. The trigger of the installation notes that change.
create or replace function note_live_installation_part() returns trigger language plpgsql as $$
begin
  perform note_live_change(i.organization_id, null, false, 'installation', i.id::text, null)
    from github_installations i where i.id = coalesce(new.installation_id, old.installation_id);
  return null;
end $$;

create or replace function note_live_run_events() returns trigger language plpgsql as $$
begin
  perform note_live_change(r.organization_id, null, false, 'run', r.id::text, null)
    from runs r where r.id in (select run_id from made);
  return null;
end $$;

create or replace function note_live_run_machine() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, null, true, 'host', coalesce(new.host_id, old.host_id)::text, null);
  return null;
end $$;

-- Readers of a Run's log wait for it to grow: pages by the live stream, other clients at the route of the
-- log. Only admins read logs.
create or replace function note_run_log(run uuid) returns void language plpgsql as $$
begin
  perform note_live_change(r.organization_id, null, true, 'run_log', r.id::text, r.dock_id) from runs r where r.id = run;
  perform pg_notify('run_logs', run::text);
end $$;

create or replace function note_run_log_grown() returns trigger language plpgsql as $$
begin
  perform note_run_log(t.run_id) from run_turns t where t.id = new.turn_id;
  return null;
end $$;

-- The log ends with its turn, or with a Run that has no working turn.
create or replace function note_run_log_ended() returns trigger language plpgsql as $$
begin
  perform note_run_log(new.run_id);
  return null;
end $$;

create or replace function note_run_log_of_run() returns trigger language plpgsql as $$
begin
  perform note_run_log(new.id);
  return null;
end $$;
