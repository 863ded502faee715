-- Pages of Docks, newest first, organization by organization.
create index docks_listed on docks (organization_id, created_at desc, id desc);
drop index docks_organization;
