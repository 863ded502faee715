-- Account mails go before alerts, and each destination domain is a lane of its own. `contact` is a message to the
-- operator, which the request itself sends.
alter table outbox_mails add column kind text not null default 'account' check (kind in ('account', 'alert', 'contact'));
alter table outbox_mails add column domain text generated always as (lower(substring(recipient from '[^@]*$'))) stored;
update outbox_mails set kind = 'alert' where link_path is not null;

-- `refused` is a permanent refusal by the mail server, `failed` a mail that was tried too often. `reply_code` and `error`
-- are the latest reply, whether or not the mail was accepted afterwards.
alter table outbox_mails add column status text not null default 'pending'
  check (status in ('pending', 'sent', 'refused', 'failed'));
alter table outbox_mails add column reply_code integer;
update outbox_mails set status = case when sent_at is not null then 'sent' else 'failed' end
  where sent_at is not null or attempts >= 25;

-- `link` is a path of the app or a whole URL.
alter table outbox_mails rename column link_path to link;
alter table outbox_mails add column link_label text;
update outbox_mails set link_label = 'Open the Dock' where link is not null;

-- No foreign keys: the removal of a person or an organization must never make the change of a Dock fail.
alter table outbox_mails add column organization_id uuid;
alter table outbox_mails add column organization_name text;
alter table outbox_mails add column user_id uuid;
alter table outbox_mails add column alert_type text;
create index outbox_mails_organization on outbox_mails (organization_id) where organization_id is not null;
create index outbox_mails_user on outbox_mails (user_id) where user_id is not null;

-- Alerts of one cause share a mail until a sender claims it: `gather_key` is null from then on. `gathered` holds what
-- the mail says if it has several items: {"title", "body", "link", "linkLabel", "items"}.
alter table outbox_mails add column gather_key text;
alter table outbox_mails add column gathered jsonb;
create unique index outbox_mails_gathering on outbox_mails (user_id, organization_id, gather_key)
  where gather_key is not null;

drop index outbox_mails_due;
create index outbox_mails_due on outbox_mails (kind, domain, next_attempt_at) where status = 'pending';
