-- What Docks used, a row a Dock a minute, kept for a day: whole days are dropped as partitions.

create table dock_usage (
  dock_id uuid not null,
  minute timestamptz not null,
  samples integer not null,
  cpu_percent_sum double precision not null,
  cpu_percent_peak double precision not null,
  mem_bytes_sum double precision not null,
  mem_bytes_peak double precision not null,
  mem_limit_sum double precision not null,
  mem_limit_peak double precision not null,
  disk_bytes_sum double precision not null,
  disk_bytes_peak double precision not null,
  rx_bytes_sum double precision not null,
  rx_bytes_peak double precision not null,
  tx_bytes_sum double precision not null,
  tx_bytes_peak double precision not null
) partition by range (minute);
-- Not unique: a process that ends writes the part of a minute that it has seen.
create index dock_usage_dock on dock_usage (dock_id, minute);

-- How full the disk was when its people were last told of it; null below every mark.
alter table docks add column disk_alert text check (disk_alert in ('disk_warning', 'disk_full'));
