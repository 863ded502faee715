-- People and how they sign in, organizations with workspaces and Environments, API keys, mails to be sent.

create table users (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  -- Made by the first start: an instance admin whatever the configured list says.
  instance_admin boolean not null default false,
  closed_at timestamptz,
  erased_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

-- One row a way to sign in; provider 'credential' is email and password.
create table login_accounts (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, account_id)
);
create index login_accounts_user on login_accounts (user_id);

create table verifications (
  id uuid primary key default gen_random_uuid(),
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

create table organizations (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  slug text not null constraint organizations_slug unique,
  seats integer not null default 5 check (seats >= 1),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table memberships (
  organization_id uuid not null references organizations (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('member', 'admin', 'owner')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (organization_id, user_id)
);
create index memberships_user on memberships (user_id);

create table workspaces (
  id uuid primary key default gen_random_uuid(),
  organization_id uuid not null references organizations (id) on delete cascade,
  name text not null,
  slug text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint workspaces_slug unique (organization_id, slug)
);

create table environments (
  id uuid primary key default gen_random_uuid(),
  organization_id uuid not null references organizations (id) on delete cascade,
  name text not null,
  is_default boolean not null default false,
  current_version integer not null default 1,
  secrets_access text not null default 'admins' check (secrets_access in ('members', 'admins')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint environments_name unique (organization_id, name)
);
create unique index environments_one_default on environments (organization_id) where is_default;

create table environment_versions (
  id uuid primary key default gen_random_uuid(),
  environment_id uuid not null references environments (id) on delete cascade,
  version integer not null check (version >= 1),
  safe_for_third_parties boolean not null default false,
  pass_github boolean not null default true,
  pass_secrets boolean not null default true,
  pass_dock_credentials boolean not null default false,
  pass_agents_credentials boolean not null default false,
  created_at timestamptz not null default now(),
  unique (environment_id, version)
);

create table api_keys (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  key_prefix text not null,
  -- SHA-256 of the raw key, which is kept nowhere.
  key_hash bytea not null unique,
  -- The one Dock it was issued to; null on keys of people.
  dock_id uuid,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_keys_prefix on api_keys (key_prefix);
create index api_keys_user on api_keys (user_id, created_at desc);

-- Written in the transaction of what they tell about; sent afterwards, again and again until it works.
create table outbox_mails (
  id uuid primary key default gen_random_uuid(),
  recipient text not null,
  subject text not null,
  body text not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  sent_at timestamptz,
  error text,
  created_at timestamptz not null default now()
);
create index outbox_mails_due on outbox_mails (next_attempt_at) where sent_at is null;
