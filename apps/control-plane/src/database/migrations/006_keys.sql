-- Keys of people beside those for the API: for SSH, and the hosted assistant's sign-in. Keys of an organization's agents.

create table ssh_keys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  -- One line in OpenSSH format.
  public_key text not null,
  -- SHA256:… of the key itself; a person adds a key once, two people may share one.
  fingerprint text not null,
  last_used_at timestamptz,
  created_at timestamptz not null,
  constraint ssh_keys_fingerprint unique (user_id, fingerprint)
);
create index ssh_keys_by_fingerprint on ssh_keys (fingerprint);

create table provider_keys (
  -- Bound into the sealed value, so a key that replaces another comes with an id of its own.
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  provider text not null check (provider in ('anthropic', 'openai', 'openrouter', 'opencode')),
  sealed_key text not null,
  updated_at timestamptz not null,
  constraint provider_keys_provider unique (organization_id, provider)
);

-- The hosted assistant's tokens of a person, sealed to them.
create table assistant_connections (
  id uuid primary key,
  user_id uuid not null unique references users (id) on delete cascade,
  sealed_tokens text not null,
  email text,
  plan_type text,
  -- When signing in must be repeated; null while the tokens can be renewed.
  expires_at timestamptz,
  updated_at timestamptz not null
);

-- A device sign-in under way, one a person: the last one begun.
create table device_sign_ins (
  id uuid primary key,
  user_id uuid not null unique references users (id) on delete cascade,
  sealed_device_code text not null,
  interval_seconds integer not null check (interval_seconds >= 1),
  -- The provider is not asked before this, however often the caller polls.
  next_poll_at timestamptz not null,
  expires_at timestamptz not null
);
