-- Attempts at copies that this database knows to have ended: what they left in the object store is swept. Objects of a copy
-- that it never knew are kept in quarantine, since a restored database knows less than the store.
create table ended_copies (
  id uuid primary key,
  -- When the attempt began: one from before a restore may have gone on in the time that was lost.
  begun_at timestamptz not null
);
create function note_ended_copy() returns trigger language plpgsql as $$
begin
  insert into ended_copies (id, begun_at) values (old.id, old.created_at) on conflict do nothing;
  return null;
end $$;
create trigger copies_ended after delete on copies for each row execute function note_ended_copy();

-- The epochs in which all objects were compared with all rows, in one direction and the other.
alter table instance_epoch add column objects_checked integer not null default 0;
alter table instance_epoch add column copies_checked integer not null default 0;
