-- A key that was added with an API key that expires ends no later than that one; null: it does not expire.
alter table ssh_keys add column expires_at timestamptz;
create index ssh_keys_expiring on ssh_keys (expires_at) where expires_at is not null;
