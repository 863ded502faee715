-- What a provider granted to who linked it: tokens for repositories, sealed under the person's key; null where it gave
-- none that expire. They go with the link.
alter table login_accounts add column grant_sealed text;
