-- The host keys with which the SSH gateway proves its identity, one of each type. They belong to the instance and are
-- sealed with its data key.
alter table data_keys drop constraint data_keys_owner_kind_check;
alter table data_keys add constraint data_keys_owner_kind_check
  check (owner_kind in ('organization', 'person', 'instance'));

create table ssh_host_keys (
  id uuid primary key,
  -- The owner of the data key. The instance has no row, so its id is always zero.
  instance_id uuid not null check (instance_id = '00000000-0000-0000-0000-000000000000'),
  type text not null unique check (type in ('ssh-ed25519', 'ecdsa-sha2-nistp256')),
  -- One line in OpenSSH format.
  public_key text not null,
  -- In OpenSSH's format of private keys.
  sealed_private_key text not null,
  created_at timestamptz not null
);

-- The gateways of all control planes read the keys again. PostgreSQL sends equal notifications of a transaction once.
create function notify_ssh_host_keys() returns trigger language plpgsql as $$
begin
  perform pg_notify('ssh_host_keys', '');
  return null;
end $$;
create trigger ssh_host_keys_changed after insert on ssh_host_keys
  for each row execute function notify_ssh_host_keys();
