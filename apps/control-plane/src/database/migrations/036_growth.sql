-- Indexes for what is pruned by age, for the erasure of an organization, and for looks that read whole tables.

create index operations_organization on operations (organization_id);
create index operations_old on operations (updated_at) where status = 'completed';
create index dock_state_changes_organization on dock_state_changes (organization_id);
create index dock_state_changes_at on dock_state_changes (at);
create index dock_events_organization on dock_events (organization_id);
create index dock_events_at on dock_events (occurred_at);
create index idempotency_keys_created on idempotency_keys (created_at);
create index notifications_at on notifications (occurred_at);
create index notifications_organization on notifications (organization_id);
create index sessions_expired on sessions (expires_at);
create index verifications_expired on verifications (expires_at);

create index copies_organization on copies (organization_id);
create index copy_chunks_used on copy_chunks (used_at);
-- Captures of a host in the order in which they are given up for room.
create index snapshots_evictable on snapshots (host_id, coalesce(used_at, created_at))
  where status = 'completed' and copied_at is not null and restoring_to is null;
create index snapshots_host on snapshots (host_id) where host_id is not null;
