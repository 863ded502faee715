-- Entries of the audit log for operations that a person began. Triggers write them: they cost no statement of their own, and
-- no claim can forget them.

-- The id of an entry follows from the operation's. It is a UUID of version 8, because the API accepts no bits of chance.
create or replace function audit_entry_id(operation_id text) returns uuid language sql immutable as $$
  select overlay(overlay(md5(operation_id) placing '8' from 13 for 1) placing '8' from 17 for 1)::uuid
$$;

-- The operation keeps neither credential nor address.
create or replace function audit_operation() returns trigger language plpgsql as $$
begin
  if new.kind in ('create', 'branch', 'stop', 'resume', 'delete') and not new.driven then
    insert into audit_entries (id, at, organization_id, action, actor_id, through, credential_id, address, target_type,
        target_id, target_name, details)
      select audit_entry_id(new.id), new.created_at, new.organization_id,
        'dock.' || case new.kind when 'create' then 'created' when 'branch' then 'branched' when 'stop' then 'stopped'
          when 'resume' then 'resumed' else 'deleted' end,
        substr(new.cause ->> 'by', 6)::uuid, new.cause ->> 'credential', new.cause ->> 'credentialId',
        new.cause ->> 'address', 'dock', new.target_id, (select name from docks where id = new.target_id),
        case when new.kind = 'branch' then jsonb_build_object('from', new.data #>> '{source,dockId}')
          when new.kind = 'stop' and new.data ->> 'snapshotId' is null then '{"saved": false}' else '{}' end;
  end if;
  new.cause := new.cause - array['credential', 'credentialId', 'address'];
  return new;
end $$;

create or replace function audit_failed_operation() returns trigger language plpgsql as $$
begin
  update audit_entries set outcome = 'failed', details = details || jsonb_build_object('code', new.error ->> 'code')
    where id = audit_entry_id(new.id);
  return null;
end $$;
