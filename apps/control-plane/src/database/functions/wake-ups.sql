-- Notifications that wake the control planes. They only wake: a periodic sweep finds what was missed. PostgreSQL sends equal
-- notifications of a transaction once.

-- A pending operation wakes the engines of all processes.
create or replace function wake_engine() returns trigger language plpgsql as $$
begin
  perform pg_notify('dock_engine', 'operations');
  return null;
end $$;

-- Tells processes that a session, a key or a membership is lost, so that they close what it holds open. The argument names
-- the column of the id to send.
create or replace function tell_access_lost() returns trigger language plpgsql as $$
begin
  perform pg_notify('access_lost', to_jsonb(old) ->> tg_argv[0]);
  return null;
end $$;

-- The port gateway forgets what it knows of a label when the row changes, and whenever its Dock moves.
create or replace function port_route_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('port_routes', coalesce(new.label, old.label));
  return null;
end $$;

create or replace function dock_routes_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('port_routes', label) from dock_ports where dock_id = new.id;
  return null;
end $$;

-- Wakes the copying of Snapshots.
create or replace function snapshot_completed() returns trigger language plpgsql as $$
begin
  perform pg_notify('snapshot_completed', '');
  return null;
end $$;

-- Wakes the deletion of data of organizations with zero data retention: the policy was turned on, a Dock was archived, or a
-- Snapshot was deleted.
create or replace function retention_turned_on() returns trigger language plpgsql as $$
begin
  perform pg_notify('retention', '');
  return null;
end $$;

create or replace function retained_thing_changed() returns trigger language plpgsql as $$
begin
  if exists (select 1 from organizations
      where id = coalesce(new.organization_id, old.organization_id) and retention_enabled) then
    perform pg_notify(tg_argv[0], '');
  end if;
  return null;
end $$;

-- Wakes the senders of webhooks.
create or replace function notify_webhook_delivery() returns trigger language plpgsql as $$
begin
  perform pg_notify('webhook_deliveries', '');
  return null;
end $$;

-- The SSH gateways read their host keys again.
create or replace function notify_ssh_host_keys() returns trigger language plpgsql as $$
begin
  perform pg_notify('ssh_host_keys', '');
  return null;
end $$;

create or replace function notify_github_webhook() returns trigger language plpgsql as $$
begin
  perform pg_notify('github_webhooks', '');
  return null;
end $$;
