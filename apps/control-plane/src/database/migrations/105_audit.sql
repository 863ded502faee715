-- Who did what, for owners of organizations and instance admins. An entry outlives what it names, so it refers to nothing.
create table audit_entries (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null,
  organization_id uuid,
  -- The entry is also written for each organization of the person who acted on an account or key of their own. Those are copies.
  is_copy boolean not null default false,
  action text not null,
  outcome text not null default 'succeeded' check (outcome in ('succeeded', 'failed')),
  -- The person who acted. The id of an erased person is replaced by a pseudonym.
  actor_id uuid,
  through text not null check (through in ('session', 'api_key', 'dock_key', 'ssh_key', 'operator', 'platform')),
  credential_id text,
  address text,
  target_type text,
  target_id text,
  target_name text,
  details jsonb not null default '{}'
);
create index audit_entries_of_organization on audit_entries (organization_id, at desc, id desc);
create index audit_entries_of_instance on audit_entries (at desc, id desc) where not is_copy;
create index audit_entries_of_actor on audit_entries (actor_id);
create index audit_entries_of_person on audit_entries (target_id) where target_type = 'person';

-- include functions/audit.sql 1dc0f82f4807

create trigger operations_audited before insert on operations for each row
  when (new.cause ? 'credential') execute function audit_operation();
create trigger operations_audited_failure after update of error on operations for each row
  when (old.error is null and new.error is not null and new.cause ->> 'by' like 'user:%')
  execute function audit_failed_operation();
