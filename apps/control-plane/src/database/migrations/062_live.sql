-- What changed, for open pages of the dashboard. Decision 098 explains the cursor. Triggers write the rows, so that no
-- statement can forget them and each row commits with its change. Rows are deleted after some minutes.
create table live_changes (
  id bigint generated always as identity primary key,
  transaction_id xid8 not null default pg_current_xact_id(),
  -- The organization whose members see the change, or the person who alone sees it. Neither: instance admins.
  organization_id uuid,
  user_id uuid,
  -- True: members below admin do not see it.
  for_admins boolean not null default false,
  kind text not null,
  subject_id text not null,
  dock_id uuid,
  at timestamptz not null default now()
);
create index live_changes_transaction on live_changes (transaction_id);
create index live_changes_at on live_changes (at);

-- The newest transaction whose rows were deleted: a page whose cursor does not include it must load everything again.
create table live_pruned (
  is_only boolean primary key default true check (is_only),
  transaction_id xid8 not null
);

create function note_live_change(organization uuid, person uuid, admins boolean, kind text, subject text, dock uuid)
  returns void language plpgsql as $$
begin
  insert into live_changes (organization_id, user_id, for_admins, kind, subject_id, dock_id)
    values (organization, person, admins, kind, subject, dock);
  perform pg_notify('live_changes', '');
end $$;

create function note_live_dock() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, 'dock',
    coalesce(new.id, old.id)::text, coalesce(new.id, old.id));
  return null;
end $$;
create trigger docks_live_made after insert or delete on docks for each row execute function note_live_dock();
create trigger docks_live_changed after update of state, name, ttl_seconds, stop_at, cpus, memory_mib, disk_gib,
    environment, environment_version, setup_status, last_snapshot_at, billing_paused_at on docks for each row
  when ((old.state, old.name, old.ttl_seconds, old.stop_at, old.cpus, old.memory_mib, old.disk_gib, old.environment,
      old.environment_version, old.setup_status, old.last_snapshot_at, old.billing_paused_at)
    is distinct from (new.state, new.name, new.ttl_seconds, new.stop_at, new.cpus, new.memory_mib, new.disk_gib,
      new.environment, new.environment_version, new.setup_status, new.last_snapshot_at, new.billing_paused_at))
  execute function note_live_dock();

create function note_live_snapshot() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, 'snapshot',
    coalesce(new.id, old.id)::text, coalesce(new.dock_id, old.dock_id));
  return null;
end $$;
create trigger snapshots_live_made after insert or delete on snapshots for each row
  execute function note_live_snapshot();
create trigger snapshots_live_changed after update of status on snapshots for each row
  when (old.status is distinct from new.status) execute function note_live_snapshot();

create function note_live_port() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, 'port',
    coalesce(new.dock_id, old.dock_id)::text, coalesce(new.dock_id, old.dock_id));
  return null;
end $$;
create trigger dock_ports_live after insert or delete on dock_ports for each row execute function note_live_port();

-- For tables with the columns id and organization_id. The argument is the kind.
create function note_live_object() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, false, tg_argv[0],
    coalesce(new.id, old.id)::text, null);
  return null;
end $$;
create trigger templates_live after insert or update or delete on templates for each row
  execute function note_live_object('template');
create trigger environments_live after insert or update or delete on environments for each row
  execute function note_live_object('environment');
create trigger workspaces_live after insert or update or delete on workspaces for each row
  execute function note_live_object('workspace');
create trigger invitations_live after insert or update or delete on invitations for each row
  execute function note_live_object('invitation');

-- A person who is no longer a member learns it by their own row.
create function note_live_membership() returns trigger language plpgsql as $$
declare
  organization uuid := coalesce(new.organization_id, old.organization_id);
  person uuid := coalesce(new.user_id, old.user_id);
begin
  perform note_live_change(organization, null, false, 'member', person::text, null);
  perform note_live_change(null, person, false, 'membership', organization::text, null);
  return null;
end $$;
create trigger memberships_live after insert or update or delete on memberships for each row
  execute function note_live_membership();

create function note_live_organization() returns trigger language plpgsql as $$
begin
  perform note_live_change(new.id, null, false, 'organization', new.id::text, null);
  return null;
end $$;
create trigger organizations_live after update on organizations for each row execute function note_live_organization();

-- Nothing of a deleted organization stays. Its former members learn of the end by their own rows. Deferred, because the
-- rows of its memberships and workspaces, which go with it, are written after other triggers of the organization.
create function forget_live_organization() returns trigger language plpgsql as $$
begin
  delete from live_changes where organization_id = old.id;
  return null;
end $$;
create constraint trigger organizations_live_removed after delete on organizations
  deferrable initially deferred for each row execute function forget_live_organization();

create function note_live_notification() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, new.user_id, false, 'notification', new.id::text, null);
  return null;
end $$;
create trigger notifications_live after insert or update on notifications for each row
  execute function note_live_notification();

create function note_live_endpoint() returns trigger language plpgsql as $$
begin
  perform note_live_change(coalesce(new.organization_id, old.organization_id), null, true, 'webhook',
    coalesce(new.id, old.id)::text, null);
  return null;
end $$;
create trigger webhook_endpoints_live after insert or update or delete on webhook_endpoints for each row
  execute function note_live_endpoint();

create function note_live_delivery() returns trigger language plpgsql as $$
begin
  perform note_live_change(new.organization_id, null, true, 'delivery', new.endpoint_id::text, null);
  return null;
end $$;
create trigger webhook_deliveries_live_made after insert on webhook_deliveries for each row
  execute function note_live_delivery();
create trigger webhook_deliveries_live_changed after update of status, attempts on webhook_deliveries for each row
  when ((old.status, old.attempts) is distinct from (new.status, new.attempts)) execute function note_live_delivery();

create function note_live_host() returns trigger language plpgsql as $$
begin
  perform note_live_change(null, null, true, 'host', coalesce(new.id, old.id)::text, null);
  return null;
end $$;
create trigger hosts_live_made after insert or delete on hosts for each row execute function note_live_host();
create trigger hosts_live_changed after update of state, images, is_builder on hosts for each row
  when ((old.state, old.images, old.is_builder) is distinct from (new.state, new.images, new.is_builder))
  execute function note_live_host();
