-- Invitations into organizations, and organizations on their way out.

-- Set when an owner deletes it: its members and invitations go in the same transaction, so that nobody reaches it any
-- more; the row stays until its Docks, Snapshots and stored objects are gone.
alter table organizations add column deleted_at timestamptz;
create index organizations_deleted on organizations (deleted_at) where deleted_at is not null;

-- Open invitations: accepted, declined and revoked ones leave the table. An expired one holds no seat.
create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  -- In lower case.
  email text not null,
  role text not null check (role in ('member', 'admin', 'owner')),
  -- SHA-256 of the mailed link's token; replaced when the invitation is sent again.
  token_hash bytea not null unique,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  constraint invitations_address unique (organization_id, email)
);
create index invitations_email on invitations (email);
