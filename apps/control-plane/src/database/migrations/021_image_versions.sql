-- Images are built once: a version is the copy of one host's build, and other hosts receive it.
create table image_versions (
  -- Also the id under which its copy stands in `copies`, in the place of a Snapshot's.
  id uuid primary key,
  name text not null,
  -- What the host that built it reports of it; the same build is published once.
  built_as text not null,
  -- Of the disk's size and chunks; null until the copy is verified. The newest version of a name that has one is current.
  digest text unique,
  created_at timestamptz not null,
  unique (name, built_as)
);

-- By an image's name, the version that the host has: a digest, or what it was built as there.
alter table hosts add column image_versions jsonb not null default '{}';
-- The version that the disk's image had; branches and Docks from Templates have that of their source.
alter table docks add column image_version text;
create index docks_image_version on docks (image_version) where image_version is not null;
