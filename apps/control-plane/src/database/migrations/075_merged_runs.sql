-- The pull request was merged while the Run worked on feedback. Its saga ends the agent, and then the Run is done.
alter table runs add column is_merged boolean not null default false;
