-- When the policy was turned on: Docks that were archived before go with all that is left of them, their rows too.
alter table organizations add column retention_since timestamptz;
