-- A key leads to one account. With two, a user who added a key of another person received that person's sessions.
-- The account that added it first keeps it.
delete from ssh_keys k using ssh_keys earlier
  where earlier.fingerprint = k.fingerprint and (earlier.created_at, earlier.id) < (k.created_at, k.id);
alter table ssh_keys drop constraint ssh_keys_fingerprint;
drop index ssh_keys_by_fingerprint;
alter table ssh_keys add constraint ssh_keys_fingerprint unique (fingerprint);
