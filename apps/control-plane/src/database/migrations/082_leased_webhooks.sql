-- Whether a process works on the webhook, so that the next process need not wait for the lease of one that was killed.
alter table github_webhooks add column is_leased boolean not null default false;
create index github_webhooks_leased on github_webhooks (id) where is_leased;
