-- What a host is to destroy when it next reports: written in the transaction that deletes the thing, so that nothing is
-- ever destroyed because the database lacks it. It names things by id only, and goes when the host has carried it out.
create table host_orders (
  host_id uuid not null references hosts (id) on delete cascade,
  kind text not null check (kind in ('dock', 'capture')),
  thing_id uuid not null,
  -- Of a Dock: this generation and every older one go; a newer one stays. 0 for a capture.
  generation integer not null default 0,
  -- The instance epoch in which it was given.
  epoch text not null default '',
  created_at timestamptz not null,
  primary key (host_id, kind, thing_id)
);
