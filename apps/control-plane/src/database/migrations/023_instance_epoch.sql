-- How a restored database is noticed. Hosts and the object store keep the last start of the instance that they were told
-- of, with a mark that only grows. A database that does not know that start, or only an older mark of it, is older than
-- what they have seen: a new epoch begins.
create table instance_epoch (
  one boolean primary key default true check (one),
  epoch integer not null default 0,
  begun_at timestamptz
);
insert into instance_epoch default values;

-- One row a start of the control plane. The mark is saved before anybody is told of it.
create table instance_starts (
  id uuid primary key,
  mark bigint not null default 0,
  started_at timestamptz not null
);

-- Ids of erased people and deleted organizations, and nothing else of them: hosts and the store keep them too, so that a
-- restored database erases them again.
create table erasures (
  kind text not null check (kind in ('person', 'organization')),
  id text not null,
  erased_at timestamptz not null default now(),
  primary key (kind, id)
);

-- The epoch in which the host's captures were last compared with all Snapshots.
alter table hosts add column checked_epoch integer not null default 0;
