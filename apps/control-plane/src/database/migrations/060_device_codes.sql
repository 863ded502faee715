-- Sign-ins of machines without a browser (RFC 8628). A row holds no secret: the codes are hashed, and the API key is made
-- when the machine fetches it, which deletes the row.
create table device_codes (
  id uuid primary key,
  device_code_hash bytea not null unique,
  user_code_hash bytea not null unique,
  machine_name text not null check (length(machine_name) between 1 and 100),
  client_address text not null check (length(client_address) <= 64),
  interval_seconds integer not null,
  next_poll_at timestamptz not null,
  -- The person who decided. Null until then.
  user_id uuid references users (id) on delete cascade,
  decision text check (decision in ('approved', 'denied')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((user_id is null) = (decision is null))
);
create index device_codes_expiry on device_codes (expires_at);
create index device_codes_user on device_codes (user_id) where user_id is not null;
