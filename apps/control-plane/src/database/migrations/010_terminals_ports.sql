-- Terminal tickets and exposed ports.

-- A ticket is worth one terminal within its half minute; only its SHA-256 is kept, and the row goes with its use.
create table terminal_tickets (
  hash bytea primary key,
  dock_id uuid not null references docks (id) on delete cascade,
  organization_id uuid not null,
  user_id uuid not null references users (id) on delete cascade,
  -- The key or session that asked for it: the terminal lasts as long as that does.
  credential_id uuid not null,
  expires_at timestamptz not null
);
create index terminal_tickets_expired on terminal_tickets (expires_at);

create table dock_ports (
  dock_id uuid not null references docks (id) on delete cascade,
  organization_id uuid not null,
  port integer not null check (port between 1 and 65535 and port <> 2222),
  -- What stands in the public address; another one when the port is exposed anew.
  label text not null unique,
  created_at timestamptz not null,
  primary key (dock_id, port)
);

-- What the port gateway remembers of a label ends with the row, and with every change of where its Dock runs.
create function port_route_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('port_routes', coalesce(new.label, old.label));
  return null;
end $$;
create trigger dock_ports_route after insert or delete on dock_ports
  for each row execute function port_route_changed();

create function dock_routes_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('port_routes', label) from dock_ports where dock_id = new.id;
  return null;
end $$;
create trigger docks_route after update of state, generation, host_id on docks
  for each row when ((old.state, old.generation, old.host_id) is distinct from (new.state, new.generation, new.host_id))
  execute function dock_routes_changed();
