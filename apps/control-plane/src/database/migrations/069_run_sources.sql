-- How many bytes of the agent's output have been read. It differs from `log_bytes`, because invalid text is replaced.
alter table run_turns add column source_bytes bigint not null default 0;
