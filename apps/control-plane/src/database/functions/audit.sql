-- Entries of the audit log for operations that a person began. Triggers write them: they cost no statement of their own, and
-- no claim can forget them.

-- The id of an entry follows from the operation's. It is a UUID of version 8, because the API accepts no bits of chance.
create or replace function audit_entry_id(operation_id text) returns uuid language sql immutable as $$
  select overlay(overlay(md5(operation_id) placing '8' from 13 for 1) placing '8' from 17 for 1)::uuid
$$;

-- The operation keeps neither credential nor address.
create or replace function audit_operation() returns trigger language plpgsql as $$
declare
  verb text := case new.kind
    when 'create' then 'dock.created' when 'branch' then 'dock.branched' when 'stop' then 'dock.stopped'
    when 'resume' then 'dock.resumed' when 'delete' then 'dock.deleted' when 'snapshot-delete' then 'snapshot.deleted'
    when 'save-template' then 'template.created' when 'delete-template' then 'template.deleted'
    when 'upgrade-environment' then 'environment.upgraded' end;
begin
  if verb is not null then
    insert into audit_entries (id, at, organization_id, action, actor_id, through, credential_id, address, target_type,
        target_id, target_name, details)
      select audit_entry_id(new.id), new.created_at, new.organization_id, verb, substr(new.cause ->> 'by', 6)::uuid,
        new.cause ->> 'credential', new.cause ->> 'credentialId', new.cause ->> 'address', split_part(verb, '.', 1),
        case verb when 'template.created' then new.data ->> 'templateId' else new.target_id::text end,
        case split_part(verb, '.', 1)
          when 'dock' then (select name from docks where id = new.target_id)
          when 'environment' then (select name from environments where id = new.target_id)
          when 'template' then coalesce(new.data ->> 'name', (select name from templates where id = new.target_id)) end,
        case
          when verb = 'dock.branched' then jsonb_build_object('from', new.data #>> '{source,dockId}')
          when verb = 'dock.stopped' and new.data ->> 'snapshotId' is null then '{"saved": false}'
          when verb in ('snapshot.deleted', 'template.created') then jsonb_build_object('dock', new.dock_id)
          when verb = 'environment.upgraded' then jsonb_build_object('version', new.data -> 'version')
            || case when jsonb_typeof(new.data -> 'dockIds') = 'array'
              then jsonb_build_object('docks', jsonb_array_length(new.data -> 'dockIds')) else '{}' end
          else '{}' end;
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
