-- Alerts in people's inboxes, and who wants which of them.

create table notifications (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  -- Shown only while the person is a member of it.
  organization_id uuid not null references organizations (id) on delete cascade,
  -- One for all who are told of the same thing.
  event_id uuid not null,
  type text not null,
  title text not null,
  body text not null,
  -- No foreign key: the alert outlives a deleted Dock.
  dock_id uuid not null,
  read_at timestamptz,
  occurred_at timestamptz not null,
  constraint notifications_event unique (event_id, user_id)
);
create index notifications_inbox on notifications (user_id, occurred_at desc, id desc);
create index notifications_unread on notifications (user_id) where read_at is null;

-- Rows only where a setting differs from the default that the program holds.
create table organization_alert_settings (
  organization_id uuid not null references organizations (id) on delete cascade,
  type text not null,
  enabled boolean not null,
  primary key (organization_id, type)
);

create table personal_alert_settings (
  user_id uuid not null references users (id) on delete cascade,
  type text not null,
  email_enabled boolean not null,
  primary key (user_id, type)
);

-- A page of the app that the mail ends with; its address is known only where mails are sent.
alter table outbox_mails add column link_path text;
