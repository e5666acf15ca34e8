/**
 * The ids of the findings that an operator can accept. They are a list, because a configuration is read without the
 * rules themselves. `npx vitest run test/docs/doctor-rules.test.ts --update` writes this file.
 */
export const acceptable: readonly string[] = `
  issuer-loopback trusted-proxies-zero store-forgets store-without-fsync store-without-replicas
  store-unencrypted store-asynchronous-replicas store-clock keys-not-kept keys-unencrypted key-refused-in-store
  key-old key-overlap-short openid-algorithm-missing secret-expired secret-expires-soon secret-shared
  passwords-unchecked client-cannot-succeed demand-unchecked redirect-localhost cors-without-tls
  redirect-unasked access-token-lives-long code-lives-long refresh-token-lives-long refresh-token-reused
  refresh-token-grace plain-code-challenge password-grant clients-unseen scope-unused scope-without-audience
  password-hash-cheap users-unencrypted sign-in-missing users-missing passkeys-at-address factors-without-page
  factor-not-askable text-missing sign-up-open sign-up-default-scope mail-limit-high mail-outbox
  mail-sender-domain mail-unusable second-factor-skipped upstream-unreachable dpop-clock-strict
  logout-uri-private upstream-freshness identity-provider-unknown upstream-without-tls upstream-secret-missing
  upstream-private upstream-any-tenant upstream-unused organization-member-unknown
  organization-claim-of-providers organization-claim-unused assertion-scope-unknown assertion-client-missing
  assertion-users-shared jwks-uri-private assertion-as-identity-token document-scope-unknown
  documents-of-any-host workload-keys-private workload-token-reusable workload-any-source workload-many
  workload-audience-foreign registration-scope-unknown registration-limit-high registration-remembered
  registration-secret-lasting fapi-signing-algorithm fapi-unused resource-unknown resource-unread
  anonymous-validation abuse-control-off metrics-public
`
  .trim()
  .split(/\s+/u)
