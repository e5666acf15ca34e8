import { accountRules } from './account-rules.ts'
import { clientRules } from './client-rules.ts'
import { pluginRules } from './plugin-rules.ts'
import { tenantRules } from './tenant-rules.ts'
import { userRules } from './user-rules.ts'

export type Severity = 'error' | 'warning' | 'info'

interface Rule {
  readonly severity: Severity
  readonly remedy: string
  /** Sections of OAuth 2.1 refer to draft-ietf-oauth-v2-1-15. */
  readonly source: string
}

const define = <const Id extends string>(rules: Readonly<Record<Id, Rule>>) => rules

/** The rules of the doctor. docs/guides/doctor.md lists the same. */
export const rules = define({
  'configuration-invalid': {
    severity: 'error',
    remedy: 'fix the configuration; the server does not start with it',
    source: 'docs/guides/configuration.md',
  },
  'stored-entry-invalid': {
    severity: 'error',
    remedy: 'correct it with grantry clients edit or grantry scopes edit, or remove it',
    source: 'docs/guides/administration.md',
  },
  'acceptance-unused': {
    severity: 'warning',
    remedy: 'remove the id from check.accept, so that the next finding of this kind is shown',
    source: 'docs/guides/doctor.md',
  },
  'issuer-loopback': {
    severity: 'info',
    remedy: 'before clients on other machines use the server, set issuer to the https URL under which they reach it',
    source: 'OAuth 2.1 section 1.5',
  },
  'trusted-proxies-zero': {
    severity: 'warning',
    remedy: 'set trustedProxies to the number of your own proxies in front of the server (usually 1)',
    source: 'RFC 9700 section 4.13',
  },
  'secret-weak': {
    severity: 'error',
    remedy: 'replace it with a secret from grantry hash-secret',
    source: 'RFC 6749 section 10.10; OAuth 2.1 section 7.7',
  },
  'secret-shared': {
    severity: 'warning',
    remedy: 'create a secret for each of them with grantry hash-secret',
    source: 'RFC 9700 section 2.5',
  },
  'secret-expired': {
    severity: 'warning',
    remedy: 'remove it from the configuration',
    source: 'docs/guides/configuration.md',
  },
  'secret-expires-soon': {
    severity: 'warning',
    remedy: 'add a second secret with grantry hash-secret, give it to its owner, and let the old one expire',
    source: 'docs/guides/configuration.md',
  },
  'secret-none-live': {
    severity: 'error',
    remedy: 'add a secret with grantry hash-secret, or disable its owner',
    source: 'RFC 6749 section 2.3.1',
  },
  'plain-code-challenge': {
    severity: 'warning',
    remedy: 'remove allowPlainPkce; all current client libraries support S256',
    source: 'RFC 9700 section 2.1.1; RFC 7636 section 4.2',
  },
  'password-grant': {
    severity: 'warning',
    remedy:
      'use the authorization code grant, with the plugin sign-in or a login page of yours, and remove password from grantTypes',
    source: 'RFC 9700 section 2.4; OAuth 2.1 section 10',
  },
  'second-factor-skipped': {
    severity: 'warning',
    remedy:
      'remove password from the grantTypes of clients, or let users.authenticate refuse users with a second factor there',
    source: 'RFC 9700 section 2.4; docs/guides/second-factor.md',
  },
  'anonymous-validation': {
    severity: 'warning',
    remedy:
      'let APIs introspect tokens with the secret of their scope, and set endpoints.accessTokenValidation to false',
    source: 'RFC 7662 section 2.1',
  },
  'redirect-wildcard': {
    severity: 'error',
    remedy: 'list each URI in full; redirect URIs are compared exactly',
    source: 'RFC 9700 section 2.1; OAuth 2.1 section 2.3.1',
  },
  'redirect-localhost': {
    severity: 'info',
    remedy: 'register http://127.0.0.1 and http://[::1] instead, if the application can listen there',
    source: 'RFC 8252 section 8.3',
  },
  'redirect-without-tls': {
    severity: 'error',
    remedy: 'use an https URI, or a loopback URI for a native application',
    source: 'RFC 9700 section 2.6; OAuth 2.1 section 1.5',
  },
  'cors-without-tls': {
    severity: 'warning',
    remedy: 'use an https origin',
    source: 'OAuth 2.1 section 1.5',
  },
  ...clientRules,
  'scope-unused': {
    severity: 'info',
    remedy: 'add it to the scopes of a client, or remove it',
    source: 'RFC 9700 section 2.3',
  },
  'scope-without-audience': {
    severity: 'info',
    remedy: 'give the API its own audience, so that other APIs reject its tokens',
    source: 'RFC 9700 section 2.3',
  },
  'clients-unseen': {
    severity: 'info',
    remedy: 'check the clients in their own store',
    source: 'docs/guides/embedding.md',
  },
  'store-unusable': {
    severity: 'error',
    remedy: 'fix the storage, then run grantry check again',
    source: 'docs/guides/configuration.md',
  },
  'store-evicts': {
    severity: 'error',
    remedy: 'set maxmemory-policy noeviction; if a spent marker is evicted, a code can be redeemed twice',
    source: 'RFC 6749 section 4.1.2; docs/guides/redis.md',
  },
  'store-forgets': {
    severity: 'warning',
    remedy:
      'use sqlite, postgresql, filesystem or redis; in memory, a restart logs out all users and loses revocations',
    source: 'docs/guides/configuration.md',
  },
  'store-unencrypted': {
    severity: 'warning',
    remedy:
      'use TLS (sslmode=verify-full, rediss://), unless the network itself encrypts; then accept it in check.accept',
    source: 'RFC 9700 section 2.6; docs/guides/deployment.md',
  },
  'store-without-fsync': {
    severity: 'warning',
    remedy:
      'remove fsync: false, synchronous: normal or durability: relaxed; after a power failure, a redeemed code could be redeemed again',
    source: 'RFC 6749 section 4.1.2',
  },
  'store-without-replicas': {
    severity: 'warning',
    remedy: 'set storage.waitReplicas to 1, so that a failover loses no redemption',
    source: 'RFC 6749 section 4.1.2; docs/guides/redis.md',
  },
  'store-asynchronous-replicas': {
    severity: 'warning',
    remedy: 'set synchronous_standby_names in PostgreSQL, with one replica more than it waits for',
    source: 'RFC 6749 section 4.1.2; docs/guides/postgresql.md',
  },
  'store-clock': {
    severity: 'warning',
    remedy: 'synchronize the clocks of both machines with NTP',
    source: 'RFC 7519 section 4.1.4',
  },
  'keys-not-kept': {
    severity: 'warning',
    remedy: 'use sqlite, postgresql, filesystem or redis as the storage, or set keys.jwks to a key file',
    source: 'OpenID Connect Core section 10.1.1',
  },
  'keys-unreadable': {
    severity: 'error',
    remedy: 'follow the instructions for this message in docs/guides/keys.md; the server does not start',
    source: 'docs/guides/keys.md',
  },
  'keys-unencrypted': {
    severity: 'warning',
    remedy: `set keys.encryptionSecret to "$\{GRANTRY_KEY_SECRET}", and the variable to 32 random bytes`,
    source: 'docs/guides/keys.md',
  },
  'key-refused-in-store': {
    severity: 'warning',
    remedy: 'find out what restored the old key ring, and keep the key in keys.refused',
    source: 'docs/guides/keys.md',
  },
  'key-old': {
    severity: 'warning',
    remedy: 'run grantry keys rotate, or insert a new first key in the key file and keep the old one after it',
    source: 'OpenID Connect Core section 10.1.1',
  },
  'key-overlap-short': {
    severity: 'warning',
    remedy: 'set keys.rotateAfter well above the lifetime of access tokens',
    source: 'OpenID Connect Core section 10.1.1',
  },
  'openid-algorithm-missing': {
    severity: 'warning',
    remedy:
      'remove keys.algorithm and keys.algorithms, or set the latter to ["ES256", "RS256"]; with a key file, add an RSA key after the first key; access tokens keep their algorithm',
    source: 'OpenID Connect Discovery 1.0 section 3',
  },
  'file-readable': {
    severity: 'error',
    remedy: 'run chmod 600 on it; if others may have read it, replace its secrets',
    source: 'docs/guides/doctor.md',
  },
  'file-writable': {
    severity: 'error',
    remedy: 'run chmod go-w on it; a user who can change it controls who gets tokens',
    source: 'docs/guides/doctor.md',
  },
  'abuse-control-off': {
    severity: 'warning',
    remedy: 'remove the setting, or limit attempts in a proxy and accept it in check.accept',
    source: 'RFC 6749 section 2.3.1; OAuth 2.1 section 7.7',
  },
  'console-on': {
    severity: 'error',
    remedy: 'set console to false; without the plugins sign-in and admin it is a development tool',
    source: 'docs/guides/doctor.md',
  },
  'metrics-public': {
    severity: 'warning',
    remedy:
      'use an address that only the scraper can reach, or protect it with a firewall and accept it in check.accept',
    source: 'docs/guides/doctor.md',
  },
  ...pluginRules,
  ...accountRules,
  ...userRules,
  ...tenantRules,
})

export type RuleId = keyof typeof rules
