-- What a Dock has from Environments, for the question who may look into it.

alter table docks
  -- Whether the version that it started with passed anything on.
  add column env_passes boolean not null default false,
  -- Environments whose files its disk has received; what is on a disk once may be there still.
  add column marks uuid[] not null default '{}';
