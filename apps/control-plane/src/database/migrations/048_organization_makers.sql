-- Who made the organization. It counts as theirs for the limit of organizations even after they hand it over.
alter table organizations add column made_by uuid references users (id) on delete set null;
-- Of those before, the owner who came first.
update organizations o set made_by = (
  select m.user_id from memberships m where m.organization_id = o.id and m.role = 'owner'
  order by m.created_at, m.user_id limit 1);
create index organizations_made_by on organizations (made_by) where deleted_at is null;
