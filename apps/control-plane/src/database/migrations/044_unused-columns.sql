-- Nothing reads these: which hosts are given a capture stands in `snapshot_restores`, and an order's generation carries its
-- epoch. The index named `restoring_to`; it now finds the copied captures of a host, to count them.
drop index snapshots_evictable;
create index snapshots_evictable on snapshots (host_id) where status = 'completed' and copied_at is not null;
alter table snapshots drop column restoring_to;
alter table host_orders drop column epoch;
