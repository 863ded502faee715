-- What an Environment's versions hold. A version never changes; the sealed bundle is its values, the other columns what
-- people may know of them.
alter table environment_versions
  add column organization_id uuid,
  -- Values of variables, contents of secret files, setup scripts of repositories; null while there are none.
  add column bundle_sealed text,
  add column var_names text[] not null default '{}',
  add column files jsonb not null default '[]',
  add column repositories jsonb not null default '[]';
update environment_versions v set organization_id = e.organization_id from environments e where e.id = v.environment_id;
alter table environment_versions alter column organization_id set not null;

-- The Environment and the version that a Dock starts with; the name beside it is what people are shown.
alter table docks
  add column environment_id uuid references environments (id) on delete set null,
  add column environment_version integer;
update docks d set environment_id = e.id, environment_version = e.current_version from environments e
  where e.organization_id = d.organization_id and e.name = d.environment;
create index docks_environment on docks (environment_id, environment_version);
