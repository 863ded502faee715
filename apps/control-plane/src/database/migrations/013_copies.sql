-- Durable copies of captures in the object store: chunks, named by a keyed hash of their content and stored once for an
-- organization, and for each copy a manifest.

-- The secret of an organization's copies, sealed; its keys name and seal what is stored.
create table copy_keys (
  organization_id uuid primary key,
  secret text not null,
  created_at timestamptz not null
);

create table copies (
  id uuid primary key,
  organization_id uuid not null,
  -- No foreign key: the row outlives its Snapshot until a sweep has removed the objects.
  snapshot_id uuid not null,
  disk_bytes bigint not null default 0,
  index_parts integer not null default 0,
  -- Bytes that this copy added to the store.
  added_bytes bigint not null default 0,
  -- Set when all of it was read back and found right; the Snapshot's copied_at with it.
  verified_at timestamptz,
  lease_owner text not null,
  lease_until timestamptz not null,
  created_at timestamptz not null,
  constraint copies_snapshot unique (snapshot_id)
);

-- A row is written when its object was read back and found right.
create table copy_chunks (
  organization_id uuid not null,
  name text not null,
  object_key text not null,
  size_bytes integer not null,
  -- When a copy last said that it needs the chunk: a sweep leaves young ones alone.
  used_at timestamptz not null,
  primary key (organization_id, name)
);

create table copy_chunk_uses (
  copy_id uuid not null references copies (id) on delete cascade,
  organization_id uuid not null,
  name text not null,
  primary key (copy_id, name)
);
create index copy_chunk_uses_chunk on copy_chunk_uses (organization_id, name);

-- Null: not copied yet, and the capture is pinned to its host.
alter table snapshots add column copied_at timestamptz;
-- When the local capture was last read or booted from; the least used go first.
alter table snapshots add column used_at timestamptz;
-- Null: no host keeps the capture any more; a host that needs it restores the copy.
alter table snapshots alter column host_id drop not null;
-- The host that a copy is being restored to: what it reports of it is not to be cleared.
alter table snapshots add column restoring_to uuid;
create index snapshots_uncopied on snapshots (created_at) where status = 'completed' and copied_at is null;
