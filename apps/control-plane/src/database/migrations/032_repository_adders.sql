-- Who added a version's repositories, by provider: [{"provider": "github", "userId": "…"}]. A Dock reaches a repository
-- through the link of the admin who added it. Versions of before keep that sealed: any admin of then may have been it.
alter table environment_versions add column repository_adders jsonb not null default '[]';
update environment_versions v set repository_adders = a.adders from (
  select o.id, jsonb_agg(distinct jsonb_build_object('provider', r.provider, 'userId', m.user_id)) as adders
  from environment_versions o, jsonb_to_recordset(o.repositories) as r(provider text), memberships m
  where m.organization_id = o.organization_id and m.role in ('admin', 'owner') group by o.id) a
where a.id = v.id;
