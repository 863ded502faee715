-- Public keys are public, so anybody can add the key of another person. Several accounts may therefore have one key, and a
-- person proves with a signature that the key is theirs. Keys that were added before are not proved.
alter table ssh_keys drop constraint ssh_keys_fingerprint;
alter table ssh_keys add constraint ssh_keys_fingerprint unique (user_id, fingerprint);
create index ssh_keys_by_fingerprint on ssh_keys (fingerprint);
alter table ssh_keys
  add column proved_at timestamptz,
  -- The text to sign, for the next proof; null if none was asked for, or once it was used.
  add column challenge text,
  add column challenge_expires_at timestamptz,
  add constraint ssh_keys_challenge check ((challenge is null) = (challenge_expires_at is null));
