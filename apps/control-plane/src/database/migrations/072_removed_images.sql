-- Published versions of images that an operator removed. A host that has one is told to remove it, also one that returns
-- much later. A version that is merely unknown is kept: the database may be a restored one.
create table removed_images (
  digest text primary key,
  name text not null,
  removed_at timestamptz not null
);
