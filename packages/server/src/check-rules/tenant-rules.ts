/** The rules for tenants and organizations. Their type is checked in rules.ts. */
export const tenantRules = {
  'tenant-unusable': {
    severity: 'error',
    remedy: 'correct the setting; the requests of this tenant get 503',
    source: 'docs/guides/tenants.md',
  },
  'tenant-over-server': {
    severity: 'error',
    remedy: 'set tenants.prefix to a path that is not that of the issuer, such as /t',
    source: 'docs/guides/tenants.md',
  },
  'organization-member-unknown': {
    severity: 'warning',
    remedy: 'write the sub of the user, or remove it',
    source: 'docs/guides/tenants.md',
  },
  'organization-claim-of-providers': {
    severity: 'warning',
    remedy: 'keep the members in users of the storage, or let one provider state the claim, without accounts',
    source: 'docs/guides/tenants.md',
  },
  'organization-claim-unused': {
    severity: 'warning',
    remedy: 'add the claim to users, or name their sub in members',
    source: 'docs/guides/tenants.md',
  },
} as const
