-- What hosts and the object store keep and the database does not know. A restored database knows less than its hosts, so
-- nothing of this is destroyed: an instance admin decides.
create table quarantine (
  -- Of a Dock, also the id of the capture that its disk became.
  id uuid primary key,
  -- Null: the object store.
  host_id uuid references hosts (id) on delete cascade,
  kind text not null check (kind in ('dock', 'capture', 'objects')),
  -- The Dock, the capture, or the copy that stored the objects.
  thing_id uuid not null,
  generation integer not null default 0,
  -- As far as the host's own notes, or the object's key, tell it. No foreign keys: the database may not know them.
  organization_id uuid,
  dock_id uuid,
  -- The machine that it was: host name, cpus, memory, disk.
  note jsonb,
  size_bytes bigint,
  disk_bytes bigint,
  -- found: not yet confirmed by its host. held: safe, waits for a decision.
  state text not null check (state in ('found', 'held', 'adopted', 'deleted')),
  first_seen_at timestamptz not null,
  decided_at timestamptz
);
create unique index quarantine_open on quarantine (host_id, kind, thing_id, generation) nulls not distinct
  where state in ('found', 'held');
create index quarantine_list on quarantine (first_seen_at, id);
