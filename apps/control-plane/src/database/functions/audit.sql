-- Entries of the audit log for operations that a person began. Triggers write them: they cost no statement of their own, and
-- no claim can forget them.

-- The entry of an operation has an id that follows from the operation's.
create or replace function audit_operation() returns trigger language plpgsql as $$
begin
  insert into audit_entries (id, at, organization_id, action, actor_id, through, credential_id, address, target_type,
      target_id, target_name)
    select md5(new.id)::uuid, new.created_at, new.organization_id,
      'dock.' || case new.kind when 'create' then 'created' when 'branch' then 'branched' when 'stop' then 'stopped'
        when 'resume' then 'resumed' else 'deleted' end,
      substr(new.cause ->> 'by', 6)::uuid, coalesce(new.cause ->> 'credential', 'session'), new.cause ->> 'credentialId',
      new.cause ->> 'address', 'dock', new.target_id, (select name from docks where id = new.target_id);
  return null;
end $$;

create or replace function audit_failed_operation() returns trigger language plpgsql as $$
begin
  update audit_entries set outcome = 'failed', details = jsonb_build_object('code', new.error ->> 'code')
    where id = md5(new.id)::uuid;
  return null;
end $$;
