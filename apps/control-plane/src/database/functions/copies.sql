-- Remembers attempts at copies that have ended, so that the sweep of the object store may remove what they left.
create or replace function note_ended_copy() returns trigger language plpgsql as $$
begin
  insert into ended_copies (id, begun_at) values (old.id, old.created_at) on conflict do nothing;
  return null;
end $$;
