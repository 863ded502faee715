-- What a payment company knows of organizations, and what of the ledger was reported to it. Decision 086 explains it.

create table billing_accounts (
  organization_id uuid primary key,
  customer_id text unique,
  subscription_id text unique,
  -- Part of the idempotency keys. It grows when a request was answered with a failure.
  attempt integer not null default 0,
  -- Grows with each state that is saved, so that an older answer never replaces a newer one.
  version integer not null default 0,
  created_at timestamptz not null
);

-- `sending`: the answer may have been lost, so it is sent again under the same identifier. `unclear`: the company counted
-- another cost than the ledger.
create table ledger_reports (
  organization_id uuid not null,
  day date not null,
  state text not null check (state in ('sending', 'sent', 'unclear')),
  first_tried_at timestamptz not null,
  primary key (organization_id, day)
);
