-- Keys that secrets are sealed with: each organization and each person has its own, wrapped by the key ring.

create table data_keys (
  -- Written into every sealed value.
  id text primary key,
  owner_kind text not null check (owner_kind in ('organization', 'person')),
  -- No foreign key: the key is destroyed last, when nothing sealed with it is left.
  owner_id uuid not null,
  -- The key of the ring that wraps it.
  ring_key_id text not null,
  wrapped bytea not null,
  -- Null on the one that seals; a retired key only opens, until nothing needs it.
  retired_at timestamptz,
  created_at timestamptz not null
);
create unique index data_keys_one_current on data_keys (owner_kind, owner_id) where retired_at is null;
create index data_keys_owner on data_keys (owner_kind, owner_id);
