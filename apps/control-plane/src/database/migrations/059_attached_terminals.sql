-- A ticket may attach its terminal to a kept process, from this offset of its output on. The host owns processes, so there
-- is no table to refer to.
alter table terminal_tickets add column process_id uuid;
alter table terminal_tickets add column process_offset bigint not null default 0 check (process_offset >= 0);
