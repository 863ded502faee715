-- A microVM whose guest did not answer was captured before it had written what it had in memory.
alter table snapshots add column after_power_cut boolean not null default false;
