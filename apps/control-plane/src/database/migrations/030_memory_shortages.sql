-- Beside dock_state_changes: times at which a Dock ran out of memory. No process: its sandbox died and was booted again.
create table dock_memory_shortages (
  id bigint generated always as identity primary key,
  dock_id uuid not null references docks (id) on delete cascade,
  generation integer not null,
  process text,
  count integer not null,
  at timestamptz not null
);
create index dock_memory_shortages_dock on dock_memory_shortages (dock_id, id);
