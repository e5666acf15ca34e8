/** The rules for the plugins that the configuration can name. Their type is checked in rules.ts. */
export const pluginRules = {
  'plugin-missing': {
    severity: 'error',
    remedy: 'add it to plugins, as its guide describes',
    source: 'docs/guides/configuration.md',
  },
  'client-without-keys': {
    severity: 'error',
    remedy: 'set jwks to the public keys of the client, or jwksUri to the URL at which it publishes them',
    source: 'RFC 7523 section 3; RFC 8705 section 2.2; docs/guides/client-assertion.md',
  },
  'verification-uri-without-tls': {
    severity: 'error',
    remedy: 'use an https URI',
    source: 'RFC 8628 section 5.4; OAuth 2.1 section 1.5',
  },
  'jwks-uri-private': {
    severity: 'warning',
    remedy: 'remove allowPrivateAddresses, or set the keys of internal clients as jwks',
    source: 'RFC 9700 section 4.11; docs/guides/client-assertion.md',
  },
  'document-scope-unknown': {
    severity: 'warning',
    remedy: 'correct the name, or add the scope to scopes',
    source: 'docs/guides/client-metadata.md',
  },
  'documents-of-any-host': {
    severity: 'warning',
    remedy: 'set otherHosts to "ask" or "refuse", and allow the hosts of the clients that you know',
    source: 'draft-ietf-oauth-client-id-metadata-document section 6; docs/guides/client-metadata.md',
  },
  'document-url-private': {
    severity: 'error',
    remedy: 'remove allowPrivateAddresses',
    source: 'RFC 9700 section 4.11; docs/guides/client-metadata.md',
  },
  'registration-scope-unknown': {
    severity: 'warning',
    remedy: 'correct the name, or add the scope to scopes',
    source: 'docs/guides/registration.md',
  },
  'registration-powerful': {
    severity: 'error',
    remedy: 'remove the scope; an administrator registers the clients of the admin API',
    source: 'docs/guides/registration.md; docs/guides/admin-api.md',
  },
  'registration-limit-high': {
    severity: 'warning',
    remedy: 'lower maxTotal, or issue initial access tokens',
    source: 'RFC 7591 section 5; docs/guides/registration.md',
  },
  'registration-remembered': {
    severity: 'warning',
    remedy: 'set consent to "ask"',
    source: 'RFC 7591 section 5; docs/guides/registration.md',
  },
  'registration-secret-lasting': {
    severity: 'warning',
    remedy: 'set secretLifetime to the seconds after which a client has to get another secret, such as 7776000',
    source: 'RFC 7591 section 3.2.1; docs/guides/registration.md',
  },
  'assertion-client-missing': {
    severity: 'warning',
    remedy: 'add the grant type to the client, or correct its id',
    source: 'docs/guides/mcp-in-a-company.md',
  },
  'assertion-scope-unknown': {
    severity: 'warning',
    remedy: 'correct the name, or add the scope to scopes',
    source: 'docs/guides/mcp-in-a-company.md',
  },
  'assertion-users-shared': {
    severity: 'warning',
    remedy: 'remove subject, or trust this identity provider only',
    source: 'docs/guides/mcp-in-a-company.md',
  },
  'assertion-as-identity-token': {
    severity: 'warning',
    remedy: 'give the client an id that is not the issuer of the server',
    source: 'RFC 8725 section 3.11; docs/guides/mcp-in-a-company.md',
  },
  'logout-uri-private': {
    severity: 'warning',
    remedy: 'remove allowPrivateAddresses',
    source: 'docs/guides/logout.md',
  },
  'dpop-clock-strict': {
    severity: 'warning',
    remedy: 'remove clockTolerance, or set it to 10 or more',
    source: 'FAPI 2.0 Security Profile section 5.3.2.1; docs/guides/dpop.md',
  },
  'dpop-nonce-unsealed': {
    severity: 'error',
    remedy: 'add a private JWK after the external keys, or set nonce to false',
    source: 'docs/guides/dpop.md',
  },
  'certificate-source-missing': {
    severity: 'error',
    remedy: 'set tls with requestCertificates, or clientCertificate for the header of the proxy that terminates TLS',
    source: 'RFC 8705 section 2; docs/guides/mtls.md',
  },
  'certificate-unverified': {
    severity: 'error',
    remedy: 'set tls.clientAuthorities, or clientCertificate.verified if the proxy verifies the chains',
    source: 'RFC 8705 section 2.1; docs/guides/mtls.md',
  },
  'fapi-signing-algorithm': {
    severity: 'warning',
    remedy: 'make a key for PS256, ES256 or EdDSA the first one, or use reference tokens',
    source: 'FAPI 2.0 Security Profile section 5.4.1; docs/guides/fapi2.md',
  },
  'fapi-unused': {
    severity: 'warning',
    remedy: 'set profile of the clients to "fapi2", or clients of the plugin to "all"',
    source: 'docs/guides/fapi2.md',
  },
  'sign-in-missing': {
    severity: 'warning',
    remedy: 'add { "name": "sign-in" } to plugins, or set authorizationEndpoint to the URL of your login page',
    source: 'RFC 6749 section 3.1; docs/guides/sign-in.md',
  },
  'users-missing': {
    severity: 'warning',
    remedy: 'add users, with passwords from grantry hash-password',
    source: 'docs/guides/sign-in.md',
  },
  'passkeys-at-address': {
    severity: 'warning',
    remedy: 'use an issuer with a host name, such as http://localhost:8484, or remove passkeys',
    source: 'WebAuthn section 5.1.2; docs/guides/account.md',
  },
  'factors-without-page': {
    severity: 'warning',
    remedy: 'add "account": {} to the entry, or remove what users cannot set up',
    source: 'docs/guides/account.md',
  },
  'factor-not-askable': {
    severity: 'warning',
    remedy: 'remove the grant type from the client: its tokens are refused',
    source: 'RFC 9700 section 2.4; docs/guides/account.md',
  },
  'text-missing': {
    severity: 'info',
    remedy: 'add the texts, or set locales to the languages that you have',
    source: 'docs/guides/sign-in.md',
  },
  'upstream-without-tls': {
    severity: 'warning',
    remedy: 'use an https issuer',
    source: 'OpenID Connect Core section 3.1.2.1; docs/guides/upstream.md',
  },
  'upstream-secret-missing': {
    severity: 'warning',
    remedy: 'set clientSecret, or privateKey',
    source: 'RFC 9700 section 2.5; docs/guides/upstream.md',
  },
  'upstream-private': {
    severity: 'warning',
    remedy: 'remove allowPrivateAddresses, unless the provider is in your own network; then accept it in check.accept',
    source: 'RFC 9700 section 4.11; docs/guides/upstream.md',
  },
  'upstream-any-tenant': {
    severity: 'warning',
    remedy: 'name the tenants by their ids',
    source: 'docs/guides/upstream.md',
  },
  'upstream-unused': {
    severity: 'warning',
    remedy: 'add the name to identityProviders of a client, or remove the provider',
    source: 'docs/guides/upstream.md',
  },
  'upstream-unreachable': {
    severity: 'warning',
    remedy: 'correct the issuer, or ask the provider; until then, its users cannot sign in',
    source: 'OpenID Connect Discovery section 4',
  },
  'identity-provider-unknown': {
    severity: 'warning',
    remedy:
      'correct the name, add the provider, or remove the name; if your user service knows it, accept it in check.accept',
    source: 'docs/guides/upstream.md',
  },
  'upstream-freshness': {
    severity: 'warning',
    remedy: 'allow passwords, add secondFactors, or set freshness of the provider to "assumed"',
    source: 'docs/guides/upstream.md',
  },
  'upstream-link-any-tenant': {
    severity: 'error',
    remedy: 'remove linkBy, or name the tenants by their ids',
    source: 'docs/guides/upstream.md',
  },
  'upstream-link-public-mail': {
    severity: 'error',
    remedy: 'remove the domain: users link such accounts themselves',
    source: 'docs/guides/upstream.md',
  },
  'workload-any-source': {
    severity: 'warning',
    remedy: 'add the branch, the environment or the workflow to the claims of the rule',
    source: 'docs/guides/workload-identity.md',
  },
  'workload-many': {
    severity: 'warning',
    remedy: 'name each workload, in subject as a list or with a client of its own',
    source: 'docs/guides/workload-identity.md',
  },
  'workload-audience-foreign': {
    severity: 'warning',
    remedy: 'let the workloads request tokens for the issuer of this server, and remove audience',
    source: 'draft-ietf-oauth-rfc7523bis section 4; docs/guides/workload-identity.md',
  },
  'workload-keys-private': {
    severity: 'warning',
    remedy: 'set the keys of internal issuers as jwks, and remove allowPrivateAddresses',
    source: 'RFC 9700 section 4.11; docs/guides/workload-identity.md',
  },
  'workload-token-reusable': {
    severity: 'warning',
    remedy: 'remove singleUse: false',
    source: 'RFC 7523 section 3; docs/guides/workload-identity.md',
  },
  'resource-unknown': {
    severity: 'warning',
    remedy: 'set audience of the scopes of your APIs to the resources that clients name',
    source: 'RFC 8707 section 2; docs/guides/resource-indicators.md',
  },
  'resource-unread': {
    severity: 'warning',
    remedy: 'add { "name": "resource-indicators" } to plugins',
    source: 'RFC 8707 section 2; docs/guides/resource-indicators.md',
  },
  'redirect-unasked': {
    severity: 'warning',
    remedy:
      'remove requireConsent: false, or use an https redirect URI, or give the client a secret that users do not have',
    source: 'RFC 8252 section 8.6',
  },
} as const
