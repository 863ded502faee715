-- Who invited, for the person who holds the link. Null: unknown, or erased.
alter table invitations add column invited_by uuid references users (id) on delete set null;
create index invitations_invited_by on invitations (invited_by);
-- When somebody made an account with the link of this invitation.
alter table invitations add column signed_up_at timestamptz;

-- Addresses that an instance admin confirmed without a mail. The row goes with the account, and the name of the admin with
-- theirs.
create table vouched_addresses (
  user_id uuid primary key references users (id) on delete cascade,
  email text not null,
  vouched_by uuid references users (id) on delete set null,
  vouched_at timestamptz not null
);
create index vouched_addresses_vouched_by on vouched_addresses (vouched_by);

-- The list of people who wait for it.
create index users_unverified on users (created_at) where not email_verified;
