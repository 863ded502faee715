-- Receivers of events. `sealed_previous_secret` signs beside the current secret until `previous_secret_until`.
create table webhook_endpoints (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  name text not null,
  url text not null,
  events text[] not null,
  secret_prefix text not null,
  sealed_secret text not null,
  sealed_previous_secret text,
  previous_secret_until timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhook_endpoints_organization on webhook_endpoints (organization_id, created_at desc, id desc);

-- One row for each event and endpoint, written in the statement that writes the event. No foreign key to the endpoint:
-- the removal of an endpoint must never make the change of a Dock fail. The columns of the Dock are null for tests.
create table webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null,
  organization_id uuid not null,
  event_id uuid not null,
  event text not null,
  occurred_at timestamptz not null,
  dock_id uuid,
  dock_state text,
  workspace_id uuid,
  status text not null default 'pending' check (status in ('pending', 'sent', 'failed', 'cancelled')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  created_at timestamptz not null
);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_organization on webhook_deliveries (organization_id);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, created_at);

-- One row for each request to a receiver, written before the request is sent, so that the limit of requests a minute
-- holds even if the process dies. `finished_at` is null while the request is under way.
create table webhook_attempts (
  id uuid primary key,
  delivery_id uuid not null references webhook_deliveries (id) on delete cascade,
  endpoint_id uuid not null,
  event_id uuid not null,
  event text not null,
  status integer,
  error text,
  started_at timestamptz not null,
  finished_at timestamptz
);
create index webhook_attempts_endpoint on webhook_attempts (endpoint_id, started_at desc, id desc);
create index webhook_attempts_delivery on webhook_attempts (delivery_id);
create index webhook_attempts_open on webhook_attempts (started_at) where finished_at is null;

-- Wakes the senders of all control planes. PostgreSQL sends equal notifications of a transaction once.
create function notify_webhook_delivery() returns trigger language plpgsql as $$
begin
  perform pg_notify('webhook_deliveries', '');
  return null;
end $$;
create trigger webhook_deliveries_saved after insert on webhook_deliveries
  for each row execute function notify_webhook_delivery();

-- Deliveries have their own rows now.
drop index dock_events_due;
alter table dock_events drop column delivered_at;
