-- True from when an operator sets a plan again until the subscription was looked at: one that has ended is replaced. Stored,
-- because script/plan does not call the payment company, and because an answer may be lost.
alter table billing_accounts add column renew boolean not null default false;
