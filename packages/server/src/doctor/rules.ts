import type { Severity } from './finding.ts'

interface Rule {
  readonly severity: Severity
  readonly remedy: string
  /** OAuth 2.1 is draft-ietf-oauth-v2-1-15: sections of a draft move. */
  readonly source: string
}

const define = <const Id extends string>(rules: Readonly<Record<Id, Rule>>) => rules

/** Every rule of the doctor, as docs/guides/doctor.md lists them. */
export const rules = define({
  'configuration-invalid': {
    severity: 'error',
    remedy: 'correct the configuration; the server does not start with it',
    source: 'docs/guides/configuration.md',
  },
  'issuer-loopback': {
    severity: 'info',
    remedy: 'write the https URL under which clients reach the server before others use it',
    source: 'OAuth 2.1 section 1.5',
  },
  'trusted-proxies-zero': {
    severity: 'warning',
    remedy: 'set trustedProxies to the number of proxies of yours before the server (1, usually)',
    source: 'RFC 9700 section 4.13',
  },
  'secret-weak': {
    severity: 'error',
    remedy: 'replace it with one of grantry hash-secret',
    source: 'RFC 6749 section 10.10; OAuth 2.1 section 7.7',
  },
  'secret-shared': {
    severity: 'warning',
    remedy: 'give each its own with grantry hash-secret',
    source: 'RFC 9700 section 2.5',
  },
  'secret-expired': {
    severity: 'warning',
    remedy: 'remove it from the configuration',
    source: 'docs/guides/configuration.md',
  },
  'secret-expires-soon': {
    severity: 'warning',
    remedy: 'add a second secret with grantry hash-secret, give it to its owner, and let the old one run out',
    source: 'docs/guides/configuration.md',
  },
  'secret-none-live': {
    severity: 'error',
    remedy: 'add a secret with grantry hash-secret, or disable its owner',
    source: 'RFC 6749 section 2.3.1',
  },
  'plain-code-challenge': {
    severity: 'warning',
    remedy: 'leave allowPlainCodeChallenge out; every client of today can use S256',
    source: 'RFC 9700 section 2.1.1; RFC 7636 section 4.2',
  },
  'password-grant': {
    severity: 'warning',
    remedy: 'use the authorization code grant with your login page, and take password out of grantTypes',
    source: 'RFC 9700 section 2.4; OAuth 2.1 section 10',
  },
  'anonymous-validation': {
    severity: 'warning',
    remedy: 'let APIs introspect with the secret of their scope, and set endpoints.accessTokenValidation to false',
    source: 'RFC 7662 section 2.1',
  },
  'redirect-wildcard': {
    severity: 'error',
    remedy: 'write each URI in full: they are compared to the letter',
    source: 'RFC 9700 section 2.1; OAuth 2.1 section 2.3.1',
  },
  'redirect-without-tls': {
    severity: 'error',
    remedy: 'write an https URI, or a loopback one for a native application',
    source: 'RFC 9700 section 2.6; OAuth 2.1 section 1.5',
  },
  'cors-without-tls': {
    severity: 'warning',
    remedy: 'write an https origin',
    source: 'OAuth 2.1 section 1.5',
  },
  'access-token-lives-long': {
    severity: 'warning',
    remedy: 'let it live an hour or less, and refresh it',
    source: 'RFC 6750 section 5.3',
  },
  'refresh-token-lives-long': {
    severity: 'warning',
    remedy: 'set absoluteLifetime to 90 days or less, or slidingLifetime so that an unused one ends',
    source: 'RFC 9700 section 4.14.2',
  },
  'code-lives-long': {
    severity: 'warning',
    remedy: 'let it live a minute, at most ten',
    source: 'RFC 6749 section 4.1.2',
  },
  'refresh-token-reused': {
    severity: 'warning',
    remedy: 'set refreshToken.usage to rotate, so that theft is noticed',
    source: 'RFC 9700 section 4.14.2',
  },
  'client-cannot-succeed': {
    severity: 'warning',
    remedy: 'complete it, or remove it',
    source: 'docs/guides/configuration.md',
  },
  'scope-unused': {
    severity: 'info',
    remedy: 'name it in the scopes of a client, or remove it',
    source: 'RFC 9700 section 2.3',
  },
  'scope-without-audience': {
    severity: 'info',
    remedy: 'give the API an audience of its own, so that its tokens are of no use elsewhere',
    source: 'RFC 9700 section 2.3',
  },
  'clients-unseen': {
    severity: 'info',
    remedy: 'look at the clients where they are kept',
    source: 'docs/guides/embedding.md',
  },
  'password-hash-cheap': {
    severity: 'warning',
    remedy: 'make it again with grantry hash-password',
    source: 'RFC 7914 section 2; OWASP Password Storage Cheat Sheet',
  },
  'store-unusable': {
    severity: 'error',
    remedy: 'make the storage reachable and fit, then run grantry check again',
    source: 'docs/guides/configuration.md',
  },
  'store-evicts': {
    severity: 'error',
    remedy: 'set maxmemory-policy noeviction: an evicted marker would let a code be redeemed twice',
    source: 'RFC 6749 section 4.1.2; docs/guides/redis.md',
  },
  'store-without-counter': {
    severity: 'warning',
    remedy: 'take a driver with incrementItem(), so that limits count across processes',
    source: 'RFC 6749 section 2.3.1',
  },
  'store-forgets': {
    severity: 'warning',
    remedy: 'use files or Redis: in memory, everybody is logged out by a restart, and a revocation is forgotten',
    source: 'docs/guides/configuration.md',
  },
  'store-without-fsync': {
    severity: 'warning',
    remedy: 'leave fsync out: a power cut could make a redeemed code redeemable again',
    source: 'RFC 6749 section 4.1.2',
  },
  'store-without-replicas': {
    severity: 'warning',
    remedy: 'set storage.waitReplicas to 1, so that a failover forgets no redemption',
    source: 'RFC 6749 section 4.1.2; docs/guides/redis.md',
  },
  'store-clock': {
    severity: 'warning',
    remedy: 'let both machines take their time from NTP',
    source: 'RFC 7519 section 4.1.4',
  },
  'keys-not-kept': {
    severity: 'warning',
    remedy: 'keep them: take files or Redis as the storage, or name a file in keys.jwks',
    source: 'OpenID Connect Core section 10.1.1',
  },
  'keys-unreadable': {
    severity: 'error',
    remedy: 'do what the guide says beside this sentence; the server does not start',
    source: 'docs/guides/keys.md',
  },
  'keys-unencrypted': {
    severity: 'warning',
    remedy: `set keys.encryptionSecret to "$\{GRANTRY_KEY_SECRET}", and the variable to 32 random bytes`,
    source: 'docs/guides/keys.md',
  },
  'key-refused-in-store': {
    severity: 'warning',
    remedy: 'find out who wrote the old key ring; keep the key in keys.refused',
    source: 'docs/guides/keys.md',
  },
  'key-old': {
    severity: 'warning',
    remedy: 'rotate it: grantry keys rotate, or a new first key in the file with the old one after it',
    source: 'OpenID Connect Core section 10.1.1',
  },
  'key-overlap-short': {
    severity: 'warning',
    remedy: 'set keys.rotateAfter well above the lifetime of access tokens',
    source: 'OpenID Connect Core section 10.1.1',
  },
  'openid-algorithm-missing': {
    severity: 'info',
    remedy:
      'add RS256 as the second one: "algorithms": ["ES256", "RS256"] in keys, or an RSA key behind the first in the file; only clients with identityTokenAlgorithm RS256 get it',
    source: 'OpenID Connect Discovery 1.0 section 3',
  },
  'file-readable': {
    severity: 'error',
    remedy: 'run chmod 600 on it; if others may have read it, make new secrets',
    source: 'docs/guides/doctor.md',
  },
  'file-writable': {
    severity: 'error',
    remedy: 'run chmod go-w on it: who can write it decides who gets tokens',
    source: 'docs/guides/doctor.md',
  },
  'abuse-control-off': {
    severity: 'warning',
    remedy: 'leave it out, or limit guesses elsewhere',
    source: 'RFC 6749 section 2.3.1; OAuth 2.1 section 7.7',
  },
  'console-on': {
    severity: 'error',
    remedy: 'set console to false: it is for trying',
    source: 'docs/guides/doctor.md',
  },
  'metrics-public': {
    severity: 'warning',
    remedy: 'take an address that only the scraper reaches, or keep strangers out with a firewall',
    source: 'docs/guides/doctor.md',
  },
})

export type RuleId = keyof typeof rules
