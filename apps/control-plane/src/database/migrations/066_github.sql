-- The GitHub App of the instance, made by the manifest flow. Settings of the operator replace it.
create table github_apps (
  id uuid primary key,
  -- Always the instance, for sealing.
  instance_id uuid not null unique,
  app_id bigint not null,
  slug text not null,
  url text not null,
  client_id text not null,
  sealed_client_secret text not null,
  sealed_webhook_secret text not null,
  sealed_private_key text not null,
  created_at timestamptz not null
);

-- An installation of the App as far as it is linked to one workspace. `provider_installation_id` is GitHub's number.
create table github_installations (
  id uuid primary key,
  provider_installation_id bigint not null,
  organization_id uuid not null references organizations (id) on delete cascade,
  workspace_id uuid not null references workspaces (id) on delete cascade,
  -- No foreign key: the installation stays when its creator is erased.
  created_by uuid not null,
  agent text not null,
  test_command text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (provider_installation_id, workspace_id)
);
create index github_installations_workspace on github_installations (workspace_id, created_at);
create index github_installations_organization on github_installations (organization_id);

create table github_installation_settings (
  installation_id uuid primary key references github_installations (id) on delete cascade,
  execution_target text not null,
  environment_id uuid references environments (id) on delete set null,
  budget_cents integer not null,
  timeout_seconds integer not null,
  label text,
  model text,
  command_template text,
  allow_workflow_files boolean not null
);
create index github_installation_settings_environment on github_installation_settings (environment_id)
  where environment_id is not null;

-- A repository belongs to one workspace. GitHub's number never changes; the name follows renames.
create table github_repositories (
  repository_id bigint primary key,
  installation_id uuid not null references github_installations (id) on delete cascade,
  full_name text not null,
  default_branch text not null,
  linked_at timestamptz not null
);
create index github_repositories_installation on github_repositories (installation_id);

-- States of linking and of the manifest: random values that are stored hashed and work once. `proven` lists the
-- repositories that the person has proved to administer.
create table github_states (
  hash bytea primary key,
  purpose text not null check (purpose in ('manifest', 'link', 'selection')),
  user_id uuid not null references users (id) on delete cascade,
  workspace_id uuid references workspaces (id) on delete cascade,
  proven jsonb,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index github_states_user on github_states (user_id, created_at);
create index github_states_workspace on github_states (workspace_id) where workspace_id is not null;
create index github_states_expiry on github_states (expires_at);

-- Webhooks of GitHub. A row is written before GitHub gets its answer. The body is deleted once it is processed; the row
-- stays until GitHub can no longer deliver it again.
create table github_webhooks (
  id uuid primary key,
  delivery_id text not null unique,
  event text not null,
  body bytea,
  received_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null,
  processed_at timestamptz,
  outcome text
);
create index github_webhooks_due on github_webhooks (next_attempt_at) where processed_at is null;
create index github_webhooks_received on github_webhooks (received_at);

create function notify_github_webhook() returns trigger language plpgsql as $$
begin
  perform pg_notify('github_webhooks', '');
  return null;
end $$;
create trigger github_webhooks_saved after insert on github_webhooks
  for each row execute function notify_github_webhook();

-- What has started or continued a Run, by the number that GitHub gave it: a comment, a review, a label on an issue. A body
-- that arrives again under another delivery id has the same key.
create table github_triggers (
  repository_id bigint not null,
  key text not null,
  provider_installation_id bigint not null,
  at timestamptz not null,
  -- 'limited': it was over the limit.
  outcome text not null,
  primary key (repository_id, key)
);
create index github_triggers_limit on github_triggers (provider_installation_id, repository_id, at);
create index github_triggers_at on github_triggers (at);
