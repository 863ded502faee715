-- Templates: Snapshots frozen under a name, from which new Docks start.

create table templates (
  id uuid primary key,
  organization_id uuid not null,
  name text not null,
  source_dock_id uuid,
  -- Kept while the Template is: neither the Snapshot nor its Dock can be deleted meanwhile.
  snapshot_id uuid references snapshots (id) on delete set null,
  status text not null check (status in ('saving', 'ready', 'failed')),
  size_bytes bigint not null default 0,
  image text not null,
  disk_gib integer not null,
  runtime text not null,
  -- Whether the Dock had connectors: members may not start Docks from it.
  connectors boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- While a name is saved anew, the Template that has it goes on working.
create unique index templates_ready on templates (organization_id, name) where status = 'ready';
create unique index templates_saving on templates (organization_id, name) where status = 'saving';
create index templates_organization on templates (organization_id, created_at desc);
create index templates_snapshot on templates (snapshot_id);
