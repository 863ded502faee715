-- Copied captures of a host, to count them. The index before left out those with restoring_to, which nothing writes now.
drop index snapshots_evictable;
create index snapshots_evictable on snapshots (host_id) where status = 'completed' and copied_at is not null;
