-- Workspaces of an organization are limited like its Environments.
alter table organization_limits add column workspaces integer check (workspaces >= 0);
